import { expect } from 'chai';
import { readJsonLines } from '../../../../../imports/api/gateway/relay/readJsonLines';
import type { JsonLine } from '../../../../../imports/api/gateway/relay/readJsonLines';
import { failure } from '../../../../support/failure';

async function linesOf(text: string, size: number): Promise<readonly JsonLine[]> {
  const bytes = Buffer.from(text);
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let start = 0; start < bytes.length; start += size)
      yield await Promise.resolve(bytes.subarray(start, start + size));
  }
  const lines: JsonLine[] = [];
  for await (const line of readJsonLines(chunks())) lines.push(line);
  return lines;
}

describe('readJsonLines', () => {
  it('reads lines in whatever chunks they come, and skips blank ones', async () => {
    const text = '{"a":"ü"}\r\n\n  \t\n[2]\n\n"last"';
    for (const size of [1, 2, 3, 7, 1_000])
      expect(await linesOf(text, size), `chunks of ${size}`).to.deep.equal([
        { line: 1, value: { a: 'ü' } },
        { line: 4, value: [2] },
        { line: 6, value: 'last' },
      ]);
  });

  it('names the line that is not JSON, has too many values, or is too long', async () => {
    const many = `[${Array(200_000).fill(1).join()}]`;
    const long = `"${'x'.repeat(17 * 1024 * 1024)}"`;
    for (const [text, problem] of [
      ['1\n{', 'Line 2 of the file is not valid JSON.'],
      [`1\n2\n${many}\n`, 'Line 3 of the file has too many values.'],
      [`1\n${long}`, 'Line 2 of the file is too long.'],
    ] as const)
      expect(await failure(linesOf(text, 65_536))).to.have.property('message', problem);
  });
});
