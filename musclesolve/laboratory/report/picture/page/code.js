(function () {
"use strict";
const THREE = {};
const marked = "__THREE__" in window;  // three.js marks the window, to warn of a second three.js
(function (exports, module) {
{{ three }}
}).call({}, THREE, {});
if (!marked) delete window.__THREE__;
{{ script }}
})();
