/** The style sheets apply to the dashboard only, whichever page it is part of. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const STYLES = join(__dirname, '../../../../imports/ui/styles');

/** The selectors and animation names that could apply outside of the dashboard's root element. */
function leaks(css: string): readonly string[] {
  const plain = css.replace(/\/\*.*?\*\//gs, '');
  const animations = [...plain.matchAll(/@keyframes\s+([\w-]+)/g)].map(([, name = '']) => name);
  const selectors = plain
    .replace(/@keyframes[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '')
    .replace(/@[^{;]*\{/g, '')
    .split('}')
    .flatMap((rule) => (rule.includes('{') ? splitList(rule.slice(0, rule.indexOf('{'))) : []));
  return [
    ...selectors.filter((selector) => !/^\.bolide(?![\w-])/.test(selector)),
    ...animations.filter((name) => !name.startsWith('bolide-')),
  ];
}

/** Commas within parentheses belong to the selector. */
function splitList(selectors: string): readonly string[] {
  return selectors.split(/,(?![^(]*\))/).map((selector) => selector.trim());
}

describe('the style sheets', () => {
  for (const file of readdirSync(STYLES).filter((name) => name !== 'page.css')) {
    it(`${file} leaves the page around the dashboard alone`, () => {
      const css = readFileSync(join(STYLES, file), 'utf8');
      expect(leaks(css)).to.deep.equal([]);
    });
  }

  it('would be caught naming elements, classes or animations of the page', () => {
    expect(leaks('.bolide a { color: red } body { margin: 0 }')).to.deep.equal(['body']);
    expect(leaks('@media print { .bolide p, .card:is(a, b) { margin: 0 } }')).to.deep.equal(['.card:is(a, b)']);
    expect(leaks('@keyframes pulse { 50% { opacity: 0 } } .bolided { margin: 0 }')).to.deep.equal([
      '.bolided',
      'pulse',
    ]);
  });
});
