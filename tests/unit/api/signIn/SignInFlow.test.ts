/** What a sign-in at an OpenID provider keeps between its start and its end, and for how long. */
import { expect } from 'chai';
import { SignInFlow } from '../../../../imports/api/signIn/SignInFlow';
import type { SignInFlowPorts } from '../../../../imports/api/signIn/SignInFlow';
import { LLMConnectionError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { AuthorizationRequest } from '../../../../imports/business/providers/domain/interfaces/AuthorizationServer';
import { KeyRing } from '../../../../imports/business/providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../../../../imports/business/providers/infrastructure/sealing/SealingService';
import { newKey } from '../../../support/oauth/ProvidersHost';

const MINUTE = 60_000;
const KEY = newKey('k1');
const RULES = {
  userId: 'sub',
  admins: [],
  users: ['*'],
  groupsClaim: 'groups',
  adminGroups: [],
  userGroups: [],
} as const;

describe('SignInFlow', () => {
  let time: number;
  let used: Map<string, number>;
  let requests: AuthorizationRequest[];
  beforeEach(() => {
    time = 1_000_000;
    used = new Map();
    requests = [];
  });

  const flowWith = (ports: Partial<SignInFlowPorts> = {}): SignInFlow =>
    new SignInFlow({
      server: {
        issuer: 'https://issuer.invalid/',
        authorizationUrl: (request) => {
          requests.push(request);
          return Promise.resolve(new URL(`https://issuer.invalid/?state=${request.state}`));
        },
        identify: () => Promise.resolve({ sub: 'ann' }),
        signOutUrl: () => Promise.resolve(undefined),
      },
      sealer: new SealingService(KeyRing.parse(KEY)),
      states: {
        use: (id, expiresAt) => {
          const isFirst = !used.has(id);
          used.set(id, expiresAt);
          return Promise.resolve(isFirst);
        },
      },
      identities: { admit: ({ subject }) => Promise.resolve({ userId: `oidc:${subject}` }) },
      rules: RULES,
      rootUrl: 'https://bolide.example.com',
      now: () => time,
      ...ports,
    });
  const start = async (
    flow: SignInFlow,
    replaced?: string,
  ): Promise<{ parameters: URLSearchParams; sealed: string }> => {
    const started = await flow.start(replaced);
    if ('refusal' in started) throw new Error(started.refusal);
    return { parameters: started.url.searchParams, sealed: started.sealed };
  };

  it('is complete once, in any process with the same keys', async () => {
    const { parameters, sealed } = await start(flowWith(), 'session-before');
    const other = flowWith();
    expect(await other.complete(parameters, sealed)).to.deep.equal({
      principal: { userId: 'oidc:ann' },
      replaced: 'session-before',
    });
    expect(await other.complete(parameters, sealed)).to.deep.equal({ refusal: 'state-used-again' });
  });

  it('expires after ten minutes, until when its use is remembered', async () => {
    const flow = flowWith();
    const [first, second] = [await start(flow), await start(flow)];
    time += 10 * MINUTE - 1;
    expect(await flow.complete(first.parameters, first.sealed)).to.have.property('principal');
    expect([...used.values()]).to.deep.equal([time + 1]);
    time += 1;
    expect(await flow.complete(second.parameters, second.sealed)).to.deep.equal({ refusal: 'state-expired' });
  });

  it('sends secrets of its own each time, and keeps them sealed', async () => {
    const flow = flowWith();
    const { sealed } = await start(flow);
    await start(flow);
    const [first, second] = requests;
    for (const name of ['state', 'nonce', 'codeVerifier'] as const) {
      expect(first?.[name])
        .to.match(/^[\w-]{43}$/)
        .and.not.to.equal(second?.[name]);
      expect(Buffer.from(sealed.split('.')[1] ?? '', 'base64url').toString('latin1')).not.to.contain(first?.[name]);
    }
    expect(first?.redirectUri).to.equal('https://bolide.example.com/sign-in/callback');
  });

  it('is not complete with other keys, at another issuer, or with a state that is given twice', async () => {
    const { parameters, sealed } = await start(flowWith());
    const other = flowWith({ sealer: new SealingService(KeyRing.parse(newKey('k1'))) });
    expect(await other.complete(parameters, sealed)).to.deep.equal({ refusal: 'other-browser' });
    const { state = '' } = requests[0] ?? {};
    const twice = new URLSearchParams([
      ['state', state],
      ['state', state],
    ]);
    expect(await flowWith().complete(twice, sealed)).to.deep.equal({ refusal: 'unknown-state' });
    expect(used.size, 'nothing is used up').to.equal(0);
  });

  it('reports a server that cannot be reached, and passes on faults', async () => {
    const failing = (error: Error): SignInFlow =>
      flowWith({
        server: {
          issuer: 'https://issuer.invalid/',
          authorizationUrl: () => Promise.reject(error),
          identify: () => Promise.reject(error),
          signOutUrl: () => Promise.resolve(undefined),
        },
      });
    const { parameters, sealed } = await start(flowWith());
    const unreachable = failing(new LLMConnectionError('No route.'));
    expect(await unreachable.start()).to.deep.equal({ refusal: 'server-unreachable' });
    expect(await unreachable.complete(parameters, sealed)).to.deep.equal({ refusal: 'server-unreachable' });
    const fault = await failing(new TypeError('A bug.'))
      .start()
      .catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(TypeError);
  });
});
