import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect } from 'chai';
import { JSDOM } from 'jsdom';
import { JsonTree } from '../../../../imports/ui/components/JsonTree';

function textOf(text: string): string {
  const page = new JSDOM(renderToStaticMarkup(createElement(JsonTree, { text, label: 'the arguments' })));
  return page.window.document.querySelector('.json-rows, .folded p')?.textContent ?? '';
}

describe('JsonTree', () => {
  it('shows invisible characters of keys and values as escapes', () => {
    const text = textOf(JSON.stringify({ 'to\u200B': 'ann\u202Ebob', plain: 'Zürich 👩‍🚀' }));
    expect(text).to.include('"to\\u200b": "ann\\u202ebob"').and.to.include('"Zürich 👩‍🚀"');
    expect(text).to.not.match(/[\u200B\u202E]/);
  });

  it('shows them in text that is not JSON, as in cut arguments', () => {
    expect(textOf('{"to": "ann\u202Ebob')).to.equal('{"to": "ann\\u202ebob');
  });

  it('says where a long value is cut', () => {
    const text = textOf(JSON.stringify({ body: `${'x'.repeat(5_000)} and delete everything` }));
    expect(text).to.include('the first 240 of 5,022 characters').and.to.match(/x"…$/);
    expect(textOf(JSON.stringify({ body: 'short' }))).to.not.include('characters');
  });
});
