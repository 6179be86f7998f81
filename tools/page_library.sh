#!/bin/sh
# Makes musclesolve/laboratory/plotting/browser/d3.min.js: the parts of D3 that draw figures in a page, as published on npm.
set -e
target=$(cd "$(dirname "$0")/.." && pwd)/musclesolve/plotting/browser/d3.min.js
folder=$(mktemp -d)
cd "$folder"
npm install --silent --no-save d3-array@3.2.5 d3-scale@4.0.3 d3-shape@3.2.1 d3-color@3.1.1 d3-format@3.1.3 \
  d3-interpolate@3.0.2 d3-path@3.1.1 internmap@2.0.3 esbuild@0.28.2
cat > entry.js <<'END'
export {bisector} from "d3-array";
export {scaleLinear} from "d3-scale";
export {area, line} from "d3-shape";
END
{
  echo "// d3-array 3.2.5, d3-scale 4.0.3, d3-shape 3.2.1 and what they need, of https://d3js.org, unchanged."
  echo "// ISC licence, Copyright 2010-2026 Mike Bostock: see d3.LICENSE.txt."
  npx esbuild entry.js --bundle --minify --format=iife --global-name=d3 --legal-comments=none
} > "$target"
rm -r "$folder"
