import { expect } from 'chai';
import { countInputTokens } from '../../../../imports/api/gateway/tokens/countInputTokens';

const IMAGE = `data:image/png;base64,${'A'.repeat(100_000)}`;

describe('countInputTokens', () => {
  const tokensOf = async (input: unknown, more: object = {}): Promise<number> =>
    (await countInputTokens({ input: input as string, ...more })).tokens;

  it('counts texts as a tokenizer does', async () => {
    const { tokens, countedBy } = await countInputTokens({ input: 'Hello, world!' });
    expect(countedBy).to.equal('tokenizer');
    expect(tokens).to.be.within(4, 12);
    expect(await tokensOf('Grüße aus Köln. 你好 🙂')).to.be.within(8, 30);
  });

  it('counts what a model reads: calls, their results, instructions and tools', async () => {
    const plain = await tokensOf('hi');
    const call = { type: 'function_call', call_id: 'c', name: 'look_up', arguments: '{"q":"a long question"}' };
    const output = { type: 'function_call_output', call_id: 'c', output: 'the result of the call' };
    const withCall = await tokensOf([{ role: 'user', content: 'hi' }, call, output]);
    expect(withCall - plain).to.be.within(12, 40);
    const tools = [{ type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} } }];
    expect((await tokensOf('hi', { tools, instructions: 'Be brief.' })) - plain).to.be.within(15, 60);
  });

  it('counts an image as one, however large its data', async () => {
    const image = { type: 'input_image', image_url: IMAGE };
    expect(await tokensOf([{ role: 'user', content: [image] }])).to.be.within(1_000, 1_050);
  });

  it('takes the control tokens of a tokenizer as text', async () => {
    expect(await tokensOf('<|endoftext|> and <|im_start|>')).to.be.greaterThan(10);
  });

  it('counts megabytes without spaces, and lets others run meanwhile', async () => {
    await tokensOf('warm up');
    const letters = Array.from({ length: 1_000_000 }, (_, index) => ((index * 7_919) % 1_000_003).toString(36)).join(
      '',
    );
    let turns = 0;
    let isCounting = true;
    const turn = (): void => {
      turns += 1;
      if (isCounting) setImmediate(turn);
    };
    turn();
    const tokens = await tokensOf(letters);
    isCounting = false;
    expect(turns).to.be.greaterThan(3);
    expect(tokens).to.be.within(letters.length / 4, letters.length);
    for (const text of ['a'.repeat(5_000_000), '🙂'.repeat(500_000)])
      expect(await tokensOf(text)).to.be.within(text.length / 20, text.length * 2);
  });

  it('of nothing is nothing', async () => {
    expect(await tokensOf([])).to.equal(0);
  });
});
