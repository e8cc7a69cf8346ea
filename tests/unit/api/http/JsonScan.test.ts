import { expect } from 'chai';
import fc from 'fast-check';
import { isLLMError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { JsonScan } from '../../../../imports/api/http/JsonScan';
import { parseJson } from '../../../../imports/api/http/parseJson';
import { failure } from '../../../support/failure';

const UNLIMITED = { maxJsonDepth: 1_000, maxJsonValues: 1e9 };

function countOf(pieces: readonly Buffer[]): number {
  const scan = new JsonScan(UNLIMITED);
  for (const piece of pieces) scan.read(piece);
  return scan.values;
}

/** Objects, arrays and what follows the first entry of each. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const entries = Object.values(value);
  return 1 + Math.max(0, entries.length - 1) + entries.reduce((sum: number, entry) => sum + valuesIn(entry), 0);
}

describe('JsonScan', () => {
  it('counts the values of any JSON, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.array(fc.nat(400)), (text, cuts) => {
        const bytes = Buffer.from(text);
        const ends = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].toSorted((a, b) => a - b);
        const pieces = [0, ...ends].map((start, at) => bytes.subarray(start, ends[at]));
        expect(countOf(pieces)).to.equal(valuesIn(JSON.parse(text)));
      }),
    );
  });

  it('takes brackets and commas in strings for text, behind any number of backslashes', () => {
    const text = JSON.stringify(['[[,,{', '\\', '\\"[,', '"]\\\\']);
    for (let cut = 0; cut <= text.length; cut += 1)
      expect(countOf([Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))]), `cut at ${cut}`).to.equal(4);
  });
});

describe('parseJson', () => {
  const limits = { maxJsonDepth: 4, maxJsonValues: 100 };
  const problemOf = async (text: string): Promise<readonly [status: number | undefined, message: string]> => {
    const error = await failure(Promise.resolve().then(() => parseJson(Buffer.from(text), limits)));
    return isLLMError(error) ? [error.httpStatus, error.message] : [undefined, String(error)];
  };
  /** More than one piece. */
  const padding = `"${'x'.repeat(1_200_000)}"`;

  for (const [title, pad] of [
    ['a short text', '1'],
    ['a long text', padding],
  ] as const) {
    it(`reads ${title}`, async () => {
      expect(await parseJson(Buffer.from(`{"a":[1,{"b":${pad}}]}`), limits)).to.have.nested.property('a[1].b');
    });

    it(`refuses ${title} with too many values, by 413`, async () => {
      const [status, message] = await problemOf(`{"a":[${Array(100).fill(1).join()}],"b":${pad}}`);
      expect(status).to.equal(413);
      expect(message).to.contain('more than 100 values');
    });

    it(`refuses ${title} that is too deep, or not JSON, by 400`, async () => {
      expect(await problemOf(`[[[[[${pad}]]]]]`)).to.deep.equal([
        400,
        'The request body is nested deeper than 4 levels.',
      ]);
      expect(await problemOf(`[${pad}`)).to.deep.equal([400, 'The request body is not valid JSON.']);
    });
  }
});
