/** Runs in the browser of `meteor test`, on mocha's globals. */
import assert from 'node:assert/strict';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { ServerStatus } from '../../imports/ui/ServerStatus';

describe('the page', () => {
  it('says that it asks the server before the answer is there', () => {
    assert.match(renderToString(createElement(ServerStatus)), /Asking the server/);
  });
});
