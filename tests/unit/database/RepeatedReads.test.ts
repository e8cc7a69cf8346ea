import { expect } from 'chai';
import { RepeatedReads } from '../../../imports/database/RepeatedReads';

describe('RepeatedReads', () => {
  const reading = (collection: { version?: number }) => {
    const reads = new RepeatedReads<string>(collection);
    let count = 0;
    return (key: string, whileReading: () => void = () => undefined): Promise<string> =>
      reads.read(key, () => {
        count += 1;
        whileReading();
        return Promise.resolve(`${key} ${count}`);
      });
  };

  it('reads again only after a write', async () => {
    const collection = { version: 1 };
    const read = reading(collection);
    expect(await read('a')).to.equal('a 1');
    expect(await read('b')).to.equal('b 2');
    expect(await read('a')).to.equal('a 1');
    collection.version = 2;
    expect(await read('a')).to.equal('a 3');
    expect(await read('b')).to.equal('b 4');
    expect(await read('a')).to.equal('a 3');
  });

  it('keeps nothing that was read during a write', async () => {
    const collection = { version: 1 };
    const read = reading(collection);
    expect(await read('a', () => (collection.version = 2))).to.equal('a 1');
    expect(await read('a')).to.equal('a 2');
    expect(await read('a')).to.equal('a 2');
  });

  it('reads each time if other processes may write, and again after a failure', async () => {
    const shared = reading({});
    expect([await shared('a'), await shared('a')]).to.deep.equal(['a 1', 'a 2']);
    const own = reading({ version: 1 });
    const failing = own('a', () => {
      throw new Error('no');
    });
    expect(await failing.catch((error: unknown) => String(error))).to.equal('Error: no');
    expect(await own('a')).to.equal('a 2');
  });

  it('keeps a bounded number of results', async () => {
    const read = reading({ version: 1 });
    for (let at = 0; at < 1_000; at += 1) await read(`${at}`);
    expect(await read('0')).to.equal('0 1');
    await read('one more');
    expect(await read('0')).to.equal('0 1002');
  });
});
