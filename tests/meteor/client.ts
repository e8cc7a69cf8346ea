/** Runs in the browser of `meteor test`, on mocha's globals. */
import assert from 'node:assert/strict';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createMeteorData } from '../../imports/ui/data/meteor/createMeteorData';
import { DataProvider } from '../../imports/ui/data/DataContext';
import { SignInPage } from '../../imports/ui/session/SignInPage';

describe('the dashboard in Meteor', () => {
  it('asks for a username and a password', () => {
    const page = createElement(SignInPage, { method: 'password' });
    const html = renderToString(createElement(DataProvider, { data: createMeteorData(), children: page }));
    assert.match(html, /Username or email/);
    assert.match(html, /type="password"/);
  });
});
