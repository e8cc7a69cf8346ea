import { expect } from 'chai';
import { DEFAULT_TRANSPORT_LIMITS as limits } from '../../../../imports/business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../../../imports/business/ai/infrastructure/clients/guardedFetch';
import type { GuardedFetch } from '../../../../imports/business/ai/infrastructure/clients/guardedFetch';
import { SdkRequests } from '../../../../imports/business/ai/infrastructure/clients/SdkRequests';
import type { SdkOptions } from '../../../../imports/business/ai/infrastructure/clients/SdkRequests';
import { failure } from '../../../support/failure';
import { TestHost } from '../../../support/TestHost';

describe('requests built by an SDK', () => {
  let host: TestHost;
  let fetch: GuardedFetch;
  let constructed: string[];
  let loads: number;
  let options: SdkOptions | undefined;

  beforeEach(async () => {
    host = await TestHost.start();
    fetch = createGuardedFetch({ limits, allowPrivateHosts: true });
    constructed = [];
    loads = 0;
  });
  afterEach(async () => {
    fetch.close();
    await host.stop();
  });

  const requests = (): SdkRequests =>
    new SdkRequests({
      vendor: 'openai',
      fetch,
      limits,
      load: () => {
        loads += 1;
        return Promise.resolve((credential, given) => {
          constructed.push(credential?.token ?? 'none');
          options = given;
          return { buildRequest: ({ path }) => Promise.resolve({ req: { headers: new Headers() }, url: `${host.url}${path}` }) };
        });
      },
    });
  const ask = async (sdk: SdkRequests, token: string): Promise<void> => {
    await (await sdk.send({ method: 'get', path: '/' }, { credential: { kind: 'api_key', token } })).text();
  };

  it('load it when it is first used, and make one client a credential', async () => {
    const sdk = requests();
    expect(loads).to.equal(0);
    for (const token of ['a', 'b', 'a', 'a', 'b']) await ask(sdk, token);
    await (await sdk.send({ method: 'get', path: '/' }, { credential: { kind: 'bearer', token: 'a' } })).text();
    await (await sdk.send({ method: 'get', path: '/' }, { credential: undefined })).text();
    expect(constructed).to.deep.equal(['a', 'b', 'a', 'none']);
  });

  it('forget the credential that was used least recently', async () => {
    const sdk = requests();
    await ask(sdk, 'first');
    await ask(sdk, 'second');
    for (let other = 0; other < 254; other++) await ask(sdk, `other ${other}`);
    await ask(sdk, 'first');
    await ask(sdk, 'one too many');
    constructed = [];
    await ask(sdk, 'first');
    expect(constructed).to.deep.equal([]);
    await ask(sdk, 'second');
    expect(constructed).to.deep.equal(['second']);
  });

  it('leave nothing to it but the building: no retries, no log, no fetch of its own', async () => {
    await ask(requests(), 'a');
    expect(options).to.include({ maxRetries: 0, logLevel: 'off' });
    expect(await failure(options?.fetch() ?? Promise.resolve())).to.be.instanceOf(Error);
  });
});
