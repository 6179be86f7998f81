(function () {
"use strict";
const THREE = {};
(function (exports, module) {
{{ three }}
}).call({}, THREE, {});
{{ script }}
})();
