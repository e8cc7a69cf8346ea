import { expect } from 'chai';
import fc from 'fast-check';
import { hasLongTexts, withReferences, withTexts } from '../../../../../imports/business/ai/domain/util/sharedTexts';

const LONG = 'x'.repeat(5_000);
const OTHER = 'y'.repeat(5_000);
const INPUT = [{ content: [{ text: 'short' }, { text: LONG }] }, { file_data: OTHER }];

describe('sharedTexts', () => {
  it('are stored with one of two documents, and read with both', () => {
    const json = JSON.stringify({ parts: [OTHER, 'short', LONG, LONG], own: 'z'.repeat(5_000) });
    const referring = withReferences(json, INPUT)!;
    expect(referring).not.to.match(/xx|yy/);
    expect(referring.length).to.be.below(5_500);
    expect(withTexts(referring, INPUT)).to.equal(json);
  });

  it('are looked for where there is a long text, not where there are many', () => {
    expect(hasLongTexts(JSON.stringify([{ text: LONG }]))).to.equal(true);
    expect(hasLongTexts(JSON.stringify(Array.from({ length: 1_000 }, () => 'short')))).to.equal(false);
  });

  it('are none where the documents have no long text in common', () => {
    expect(withReferences(JSON.stringify(['short', OTHER]), [LONG])).to.equal(undefined);
  });

  it('are not mistaken for what somebody wrote', () => {
    const texts = ['bolide:text-of-input:', 'bolide:text-of-input:0', 'bolide:text-of-input::', ':'];
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...texts, LONG, OTHER), fc.string())), (parts) => {
        const json = JSON.stringify([LONG, ...parts]);
        expect(withTexts(withReferences(json, INPUT)!, INPUT)).to.equal(json);
      }),
      { numRuns: 50 },
    );
  });

  it('are missing if the run was removed by hand', () => {
    expect(withTexts(withReferences(JSON.stringify([LONG]), INPUT)!, undefined)).to.include('no longer stored');
  });
});
