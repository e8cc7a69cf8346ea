/**
 * React DOM in a page of jsdom. It is loaded inside of the page, so that the process keeps its own globals: SDKs of
 * vendors refuse to work where they see a browser.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Root } from 'react-dom/client';
import { JSDOM } from 'jsdom';

export interface ReactPage {
  readonly createRoot: (container: Element) => Root;
  readonly document: Document;
}

let page: ReactPage | undefined;

/** The same page for every test of a process. */
export function openReactPage(): ReactPage {
  page ??= createPage();
  return page;
}

function createPage(): ReactPage {
  const { window } = new JSDOM('<!doctype html><body></body>', { runScripts: 'outside-only' });
  const load = createRequire(__filename);
  const file = join(dirname(load.resolve('react-dom')), 'cjs/react-dom-client.development.js');
  const run = window.eval(`(function (require, exports, process) {${readFileSync(file, 'utf8')}\n})`) as (
    require: NodeJS.Require,
    exports: object,
    process: NodeJS.Process,
  ) => void;
  const exports = {};
  run(load, exports, process);
  // The module has filled its exports.
  const { createRoot } = exports as Pick<ReactPage, 'createRoot'>;
  return { createRoot, document: window.document };
}
