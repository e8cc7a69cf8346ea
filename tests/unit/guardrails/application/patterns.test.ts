/** What the patterns find, and that a text in pieces is masked exactly as the whole. */
import { expect } from 'chai';
import fc from 'fast-check';
import { PatternFilter } from '../../../../imports/business/guardrails/application/PatternFilter';
import { PII_PATTERNS, PII_TYPES } from '../../../../imports/business/guardrails/application/piiPatterns';
import type { TextPattern } from '../../../../imports/business/guardrails/application/TextPattern';
import { wordPattern } from '../../../../imports/business/guardrails/application/wordPattern';
import type { FilteredText } from '../../../../imports/business/ai/domain/types/GuardrailTypes';
import { IS_SOAK } from '../../../support/soak';

const textOf = (filtered: FilteredText): string => (typeof filtered === 'string' ? filtered : filtered.text);

const pii = (): readonly TextPattern[] => PII_TYPES.map((type) => PII_PATTERNS[type]());
const WORDS = ['bad', 'bad apple', 'Straße', 'c++', 'naïve', '禁止', '𐐀𐐁'];
const words = (): readonly TextPattern[] => [wordPattern(WORDS, '***')];

function masked(patterns: readonly TextPattern[], ...pieces: readonly string[]): string {
  const filter = new PatternFilter(patterns);
  return [...pieces.map((piece) => textOf(filter.push(piece))), textOf(filter.end())].join('');
}

describe('The patterns of personal data', () => {
  for (const [text, expected] of [
    ['Write to bob.smith+x@mail.example.co.uk, please.', 'Write to [EMAIL], please.'],
    ['jörg@bücher.example', '[EMAIL]'],
    ['a@b@c.example', 'a@[EMAIL]'],
    ['The @ sign, x@y and user@localhost are none.', 'The @ sign, x@y and user@localhost are none.'],
    ['Call +49 30 901820 now.', 'Call [PHONE] now.'],
    ['Call (030) 901-820 or 030/901820.', 'Call [PHONE] or [PHONE].'],
    ['US: (415) 555-2671, 415.555.2671', 'US: [PHONE], [PHONE]'],
    [
      'In 2024, on 2024-10-21 at 12:30:45, 1234567 cost 1,000,000.',
      'In 2024, on 2024-10-21 at 12:30:45, 1234567 cost 1,000,000.',
    ],
    ['IBAN DE89 3704 0044 0532 0130 00 OK', 'IBAN [IBAN] OK'],
    ['GB82WEST12345698765432', '[IBAN]'],
    ['DE88370400440532013000', 'DE88370400440532013000'],
    ['Card 4111 1111 1111 1111, exp. 12/27', 'Card [CREDIT_CARD], exp. 12/27'],
    ['5500-0000-0000-0004', '[CREDIT_CARD]'],
    ['4111111111111112 is no card', '4111111111111112 is no card'],
    ['SSN 078-05-1120.', 'SSN [SSN].'],
    ['000-12-3456, 666-12-3456 and 123-00-4567', '000-12-3456, 666-12-3456 and 123-00-4567'],
    ['From 192.168.0.1:8080, not 999.1.1.1.', 'From [IP]:8080, not 999.1.1.1.'],
    ['2001:db8::8a2e:370:7334 and ::1', '[IP] and [IP]'],
    ['std::vector, A::B, 10:20', 'std::vector, A::B, 10:20'],
  ] as const)
    it(`mask ${JSON.stringify(text)}`, () => {
      expect(masked(pii(), text)).to.equal(expected);
    });
});

describe('The patterns of words', () => {
  for (const [text, expected] of [
    ['A bad idea. BAD! badly, notbad, bad_word', 'A *** idea. ***! badly, notbad, bad_word'],
    ['a bad  apple', 'a ***'],
    ['die STRASSE und die straße', 'die STRASSE und die ***'],
    ['I like C++.', 'I like ***.'],
    ['naïve, naive', '***, naive'],
    ['此 禁止 吸烟', '此 *** 吸烟'],
  ] as const)
    it(`mask ${JSON.stringify(text)}`, () => {
      expect(masked(words(), text)).to.equal(expected);
    });
});

describe('A text in pieces', () => {
  const fragments = [
    ...['bob@example.com', 'x.y@a.b.co', 'bob@', '@x.com', '+49 30 901820', '(415) 555-2671', '030 12345678', '00'],
    ...['DE89 3704 0044 0532 0130 00', 'GB82WEST12345698765432', 'IS MY', '4111 1111 1111 1111', '5500-0000-0000-0004'],
    ...['078-05-1120', '192.168.0.1', '10.0.0.', '2001:db8::1', '::1', ':', 'std::x', '2024-10-21', 'bad', 'bad apple'],
    ...[
      'Bad',
      'b',
      'a',
      'd',
      ' ',
      '  ',
      '\n',
      '.',
      '-',
      '+',
      '(',
      '@',
      '1',
      '9',
      '12',
      'A',
      'é',
      '禁止',
      '禁',
      '𐐀𐐁',
      '😀',
      'c++',
    ],
  ];
  const text = fc.array(fc.oneof(fc.constantFrom(...fragments), fc.string({ unit: 'binary', maxLength: 6 })), {
    maxLength: 12,
  });
  const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 20 });

  for (const [what, patterns] of Object.entries({
    'personal data': pii,
    words,
    both: () => [...words(), ...pii()],
  }))
    it(`is masked as the whole: ${what}`, () => {
      fc.assert(
        fc.property(text, cuts, (parts, places) => {
          const whole = parts.join('');
          const sorted = [...new Set([0, ...places.filter((place) => place < whole.length), whole.length])].sort(
            (a, b) => a - b,
          );
          const pieces = sorted.slice(1).map((end, index) => whole.slice(sorted[index], end));
          expect(masked(patterns(), ...pieces)).to.equal(masked(patterns(), whole));
        }),
        { numRuns: IS_SOAK ? 3_000 : 500 },
      );
    });

  it('is masked as the whole, character by character', () => {
    fc.assert(
      fc.property(text, (parts) => {
        const whole = parts.join('');
        const both = [...words(), ...pii()];
        expect(masked(both, ...whole.split(''))).to.equal(masked(both, whole));
      }),
      { numRuns: IS_SOAK ? 2_000 : 400 },
    );
  });

  it('never shows the start of what is masked', () => {
    for (const secret of [
      'bob@example.com',
      '4111 1111 1111 1111',
      'DE89 3704 0044 0532 0130 00',
      '078-05-1120',
      '+49 30 901820',
    ]) {
      const filter = new PatternFilter(pii());
      let shown = '';
      for (const character of `It is ${secret}`) shown += textOf(filter.push(character));
      expect('It is ', secret).to.include(shown);
    }
  });

  it('is passed on without delay where nothing can match', () => {
    const filter = new PatternFilter(pii());
    expect(textOf(filter.push('Cobalt is blue. '))).to.equal('Cobalt is blue. ');
    expect(textOf(filter.push('Its symbol is Co'))).to.equal('Its symbol is ');
    expect(textOf(filter.push(', from the'))).to.equal('Co, from ');
  });

  it('holds back a bounded part', () => {
    const filter = new PatternFilter([...words(), ...pii()]);
    let shown = 0;
    for (let count = 1; count <= 2_000; count += 1) {
      shown += textOf(filter.push('a1')).length;
      expect(count * 2 - shown).to.be.at.most(400);
    }
  });
});
