import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect } from 'chai';
import { JSDOM } from 'jsdom';
import { Markdown } from '../../../../imports/ui/components/Markdown';

function render(text: string): HTMLElement {
  return new JSDOM(renderToStaticMarkup(createElement(Markdown, { text, label: 'the answer' }))).window.document.body;
}

describe('Markdown', () => {
  it('renders headings, emphasis, lists, tables and code', () => {
    const page = render(
      '# Plan\n\n**Now** *or* `never`\n\n- [x] one\n- two\n\n| a | b |\n|--|:-:|\n| 1 | 2 |\n\n```js\nx()\n```',
    );
    expect(page.querySelector('[role="heading"]')?.textContent).to.equal('Plan');
    expect(page.querySelector('strong')?.textContent).to.equal('Now');
    expect([...page.querySelectorAll('li')].map((item) => item.textContent)).to.deep.equal(['☑ one', 'two']);
    expect(page.querySelectorAll('td')).to.have.length(2);
    expect(page.querySelector('pre')?.textContent).to.equal('x()');
  });

  it('decodes character references once', () => {
    expect(render('a &amp; b &lt;i&gt; &#x41; &#0; &unknown;').textContent).to.equal('a & b <i> A \uFFFD &unknown;');
    expect(render('`&amp;`').textContent).to.equal('&amp;');
  });

  it('links to web and mail addresses only, and shows where they lead', () => {
    const page = render(
      '[a](https://example.com/x) [b](mailto:ann@example.com) [c](javascript:alert(1)) [d](data:text/html,x) [e](#/runs) [f](//evil.example) [g](file:///etc/passwd) [h](JaVaScRiPt:alert(1)) [i][ref]\n\n[ref]: vbscript:x',
    );
    expect([...page.querySelectorAll('a')].map((link) => [link.textContent, link.getAttribute('href')])).to.deep.equal([
      ['a (example.com)', 'https://example.com/x'],
      ['b (ann@example.com)', 'mailto:ann@example.com'],
    ]);
    for (const link of page.querySelectorAll('a')) expect(link.rel).to.equal('noopener noreferrer nofollow');
  });

  it('loads no image', () => {
    const page = render('![chart](https://tracker.example/x.png) ![bad](javascript:alert(1))');
    expect(page.querySelectorAll('img, iframe, video')).to.have.length(0);
    expect(page.querySelector('a')?.textContent).to.equal('Image: chart (tracker.example)');
  });

  it('shows HTML as text', () => {
    const html =
      '<img src=x onerror=alert(1)>\n\n<script>alert(1)</script>\n\n<style>*{display:none}</style> <b onclick=x>b</b>';
    const page = render(html);
    expect(page.querySelectorAll('img, script, style, b')).to.have.length(0);
    expect(page.textContent).to.include('<script>alert(1)</script>');
  });

  const HOSTILE: Readonly<Record<string, string>> = {
    'open emphasis': '**'.repeat(100_000),
    'words with underscores': '_a'.repeat(50_000),
    'nested lists': Array.from({ length: 2_000 }, (_, level) => `${' '.repeat(level)}- a`).join('\n'),
    'nested list markers': '- '.repeat(20_000),
    'nested quotes': `${'>'.repeat(50_000)} a`,
    'open brackets': '['.repeat(100_000),
    'open links': '[a]('.repeat(30_000),
    'open tags': '<a '.repeat(30_000),
    backticks: '`'.repeat(100_000),
    spaces: ' '.repeat(200_000),
    'a wide table': `${'|a'.repeat(30_000)}\n${'|-'.repeat(30_000)}`,
    'broken Unicode and directions': '\uD800 \uDC00 \u202Eevil\u2066 \u0000',
  };
  for (const [name, text] of Object.entries(HOSTILE))
    it(`shows ${name} without failing`, () => {
      expect(render(text).textContent.length).to.be.above(0);
    });

  it('continues a very long text as folded plain text', () => {
    const page = render(`${'A paragraph.\n\n'.repeat(3_000)}The end.`);
    expect(page.textContent).not.to.include('The end.');
    expect(page.querySelector('button')?.textContent).to.match(/^Show all \([\d.]+k? characters\)/);
  });
});
