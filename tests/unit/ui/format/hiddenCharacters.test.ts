import { expect } from 'chai';
import fc from 'fast-check';
import { hasHidden, showHidden } from '../../../../imports/ui/format/hiddenCharacters';

describe('hidden characters', () => {
  for (const [title, text, shown] of [
    ['marks that reverse text', 'pay \u202Eeve\u202C', 'pay \\u202eeve\\u202c'],
    ['isolates', '\u2066x\u2069', '\\u2066x\\u2069'],
    ['marks of direction', 'a\u200Fb\u061C', 'a\\u200fb\\u061c'],
    ['zero-width characters', 'rm\u200B -rf\u2060 \uFEFF/', 'rm\\u200b -rf\\u2060 \\ufeff/'],
    ['joiners between letters', 'pay\u200Dpal', 'pay\\u200dpal'],
    ['soft hyphens', 'ro\u00ADot', 'ro\\u00adot'],
    ['tags, which spell instructions', 'ok\u{E0041}\u{E0042}', 'ok\\udb40\\udc41\\udb40\\udc42'],
    ['variation selectors, which carry data', 'a\uFE0F\u{E0100}', 'a\\ufe0f\\udb40\\udd00'],
    ['fillers that look like a space', '\u3164\uFFA0\u115F\u2800', '\\u3164\\uffa0\\u115f\\u2800'],
    ['separators of lines', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['controls', 'a\u0007\u001B[2K\u009Bb', 'a\\u0007\\u001b[2K\\u009bb'],
    ['a carriage return that overwrites', 'harmful\rharmless', 'harmful\\u000dharmless'],
  ] as const)
    it(`are shown as escapes: ${title}`, () => {
      expect(showHidden(text)).to.equal(shown);
      expect(hasHidden(text)).to.equal(true);
    });

  for (const text of [
    'Line one\nline two\r\n\tindented',
    'Zürich, 東京, Ελλάδα, हिन्दी',
    'عربى, עברית, ۱۲۳',
    'می\u200Cخواهم',
    '👩\u200D🚀 👨\u200D👩\u200D👧 👩🏽\u200D🔬 ❤\uFE0F\u200D🔥 1\uFE0F⃣ 🇨🇭',
    'no-break\u00A0space',
  ])
    it(`are not seen in ordinary text: ${text.slice(0, 20)}`, () => {
      expect(showHidden(text)).to.equal(text);
      expect(hasHidden(text)).to.equal(false);
    });

  it('leave nothing behind that reorders or hides text, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const shown = showHidden(text);
        expect(shown).to.not.match(/[\p{Bidi_Control}\u200B\u2060\uFEFF\u2028\u2029]/u);
        expect(showHidden(shown)).to.equal(shown);
      }),
      { numRuns: 500 },
    );
  });
});
