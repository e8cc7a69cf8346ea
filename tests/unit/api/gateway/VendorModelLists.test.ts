import { expect } from 'chai';
import { VendorModelLists } from '../../../../imports/api/gateway/models/VendorModelLists';

const START = Date.UTC(2026, 0, 1);

describe('VendorModelLists', () => {
  let now = START;
  let requests: string[] = [];
  let answer: () => Promise<readonly string[]> = async () => ['a'];
  const provider = {
    listModels(userId: string) {
      requests.push(userId);
      return answer();
    },
  };
  beforeEach(() => {
    now = START;
    requests = [];
    answer = async () => ['a'];
  });

  it('asks for each user, and again after ten minutes', async () => {
    const lists = new VendorModelLists(() => now);
    expect(await Promise.all(['ann', 'ann', 'bob'].map((user) => lists.read(provider, user)))).to.deep.equal([
      ['a'],
      ['a'],
      ['a'],
    ]);
    now = START + 10 * 60_000;
    await lists.read(provider, 'ann');
    expect(requests).to.deep.equal(['ann', 'bob']);
    now += 1;
    answer = async () => ['b'];
    expect(await lists.read(provider, 'ann')).to.deep.equal(['b']);
  });

  it('asks a vendor that failed again after half a minute', async () => {
    const lists = new VendorModelLists(() => now);
    answer = () => Promise.reject(new Error('away'));
    expect(await lists.read(provider, 'ann')).to.equal(undefined);
    answer = async () => ['a'];
    expect(await lists.read(provider, 'ann')).to.equal(undefined);
    now += 30_001;
    expect(await lists.read(provider, 'ann')).to.deep.equal(['a']);
    expect(requests).to.have.length(2);
  });

  it('remembers a bounded number of users', async () => {
    const lists = new VendorModelLists(() => now);
    for (let user = 0; user <= 1_000; user += 1) await lists.read(provider, String(user));
    requests = [];
    await lists.read(provider, '1000');
    await lists.read(provider, '0');
    expect(requests).to.deep.equal(['0']);
  });

  it('knows nothing of a provider that cannot list its models', async () => {
    expect(await new VendorModelLists().read({}, 'ann')).to.equal(undefined);
  });
});
