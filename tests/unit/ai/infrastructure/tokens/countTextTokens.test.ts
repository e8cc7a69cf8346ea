import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer';
import { countTextTokens } from '../../../../../imports/business/ai/infrastructure/tokens/countTextTokens';

const prose = (sentences: number, of: string): string =>
  Array.from({ length: sentences }, (_, index) => `Sentence ${index} is about ${of}. `).join('');

describe('countTextTokens', () => {
  it('counts a text that it has counted before, alone or at the start of another', async () => {
    const start = prose(2_000, 'harbours');
    const first = await countTextTokens(start);
    expect(first).to.be.closeTo(countTokens(start), countTokens(start) / 100);
    expect(await countTextTokens(start)).to.equal(first);
    const longer = start + prose(500, 'lighthouses');
    expect(await countTextTokens(longer)).to.be.closeTo(countTokens(longer), countTokens(longer) / 100);
  });

  it('counts one text after another, so that a burst leaves turns to others', async () => {
    const done: string[] = [];
    await Promise.all([
      countTextTokens(prose(8_000, 'tides')).then(() => done.push('long')),
      countTextTokens('Hi.').then(() => done.push('short')),
    ]);
    expect(done).to.deep.equal(['long', 'short']);
  });

  it('lets a user wait for one text of another, however many there are', async () => {
    const done: string[] = [];
    const hostile = Array.from({ length: 20 }, (_, index) =>
      countTextTokens(prose(1_000, `storm ${index}`), 'hostile').then(() => done.push('hostile')),
    );
    await Promise.all([...hostile, countTextTokens('Hi there.', 'good').then(() => done.push('good'))]);
    expect(done.indexOf('good')).to.be.at.most(2);
    expect(done).to.have.length(21);
  });

  it('counts nothing in an empty text', async () => {
    expect(await countTextTokens('')).to.equal(0);
  });
});
