import assert from "node:assert/strict";
import { test } from "node:test";

import { safeHref } from "../links.js";

const BASE = "http://127.0.0.1:9000/lambda-url/ask/";

for (const [address, href] of [
  ["https://www.postgresql.org/docs/17/wal.html#X:~:text=a%2Db", "https://www.postgresql.org/docs/17/wal.html#X:~:text=a%2Db"],
  ["sources/notice#notice-period:~:text=30%20days", `${BASE}sources/notice#notice-period:~:text=30%20days`],
  ["sources/notice", `${BASE}sources/notice`],
  ["http://docs.example/", "http://docs.example/"],
]) {
  test(`is a link: ${address}`, () => assert.equal(safeHref(address, BASE), href));
}

for (const address of [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  "\tjavascript:alert(1)",
  " javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:x",
  "blob:http://127.0.0.1/1",
  "file:///etc/passwd",
  "//elsewhere.example/",
  "\\\\elsewhere.example/",
  "https://docs.example@elsewhere.example/",
  "https://user:word@docs.example/",
  "https://",
  "",
  null,
  undefined,
  7,
]) {
  test(`c262 is text, not a link: ${JSON.stringify(address)}`, () => assert.equal(safeHref(address, BASE), null));
}
