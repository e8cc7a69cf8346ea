/**
 * URLs that an administrator configures, or that a server's metadata contains, never lead to private addresses unless
 * the operator allows it.
 */
import { expect } from 'chai';
import { isLLMError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { DEFAULT_TRANSPORT_LIMITS } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import type { OAuthSettings } from '../../../../../imports/business/providers/domain/types/OAuthSettings';
import { OAuth2Server } from '../../../../../imports/business/providers/infrastructure/oauth/OAuth2Server';
import { ServerMetadataCache } from '../../../../../imports/business/providers/infrastructure/oauth/ServerMetadataCache';
import { systemClock } from '../../../../../imports/business/providers/infrastructure/system/systemClock';
import { failure } from '../../../../support/failure';
import { ADMIN, ALICE, ProvidersHost } from '../../../../support/oauth/ProvidersHost';
import { TestHost } from '../../../../support/TestHost';

const BINDING = 'a-binding-0123456789-0123456789';

/** Loopback, private and link-local addresses, in various notations. */
const INSIDE = [
  '127.0.0.1',
  'localhost',
  '[::1]',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '[::ffff:127.0.0.1]',
  '0.0.0.0',
  '10.0.0.7',
  '192.168.1.1',
  '172.16.0.1',
  '169.254.169.254',
  '[fe80::1]',
  '[fd00::1]',
  '100.64.0.1',
];

describe('the guard against private addresses', () => {
  let inside: TestHost;
  let strict: ProvidersHost;
  before(async () => {
    inside = await TestHost.start();
    strict = await ProvidersHost.start({ allowPrivateHosts: false });
  });
  after(async () => {
    await strict.stop();
    await inside.stop();
  });

  const provider = (providerId: string, auth: object): object => ({
    providerId,
    name: 'P',
    vendor: 'openai',
    access: 'everyone',
    auth: { kind: 'oauth_user', clientId: 'x', clientSecret: 'a-secret', ...auth },
  });

  INSIDE.forEach((name, index) => {
    it(`rejects ${name} for metadata and for tokens, and opens no connection`, async () => {
      const origin = `https://${name}:${inside.port}`;
      await strict.operations['ai.providers.create'](ADMIN, provider(`issuer${index}`, { issuer: origin }));
      const thrown = await failure(
        strict.operations['ai.providers.connect'](ALICE, { providerId: `issuer${index}`, binding: BINDING }),
      );
      expect(thrown).to.satisfy(isLLMError);
      expect(String(thrown)).to.match(/not a public address|not allowed/);
      await strict.operations['ai.providers.create'](ADMIN, {
        ...provider(`token${index}`, {
          kind: 'oauth_app',
          issuer: origin,
          discovery: 'none',
          tokenEndpoint: `${origin}/token`,
        }),
      });
      expect(
        String(
          await failure(strict.module.credentials.getAccessToken({ providerId: `token${index}`, userId: 'alice' })),
        ),
      ).to.match(/not a public address|not allowed/);
      expect(inside.connections).to.equal(0);
    });
  });

  it('rejects plain http and credentials in the URL before anything is stored', async () => {
    for (const field of ['issuer', 'authorizationEndpoint', 'tokenEndpoint', 'revocationEndpoint']) {
      for (const url of [
        `http://127.0.0.1:${inside.port}`,
        'file:///etc/passwd',
        'https://user:password@server.example',
      ]) {
        expect(
          await failure(
            strict.operations['ai.providers.create'](
              ADMIN,
              provider('refused', { issuer: 'https://server.example', [field]: url }),
            ),
          ),
        ).to.have.property('path', `auth.${field}`);
      }
    }
    expect(await strict.providers.findOne({ _id: 'refused' })).to.equal(undefined);
  });

  /** A server whose public name resolves to this machine. */
  const serverBehindName = (
    allowPrivateHosts: boolean,
  ): { readonly server: OAuth2Server; readonly settings: OAuthSettings } => {
    const fetch = createGuardedFetch({
      limits: DEFAULT_TRANSPORT_LIMITS,
      allowPrivateHosts,
      lookup: (_name, options, callback) =>
        options.all === true ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4),
    });
    const server = new OAuth2Server({
      fetch,
      metadata: new ServerMetadataCache({ fetch, clock: systemClock, allowInsecure: () => allowPrivateHosts }),
    });
    const scheme = allowPrivateHosts ? 'http' : 'https';
    return {
      server,
      settings: {
        protocol: 'oauth2',
        issuer: `${scheme}://rebound.example:${inside.port}`,
        discovery: 'oidc',
        clientId: 'x',
        scopes: [],
      },
    };
  };

  it('rejects a public name that resolves to a private address', async () => {
    const { server, settings } = serverBehindName(false);
    expect(String(await failure(server.prepare(settings)))).to.match(/not a public address/);
    expect(inside.connections).to.equal(0);
  });

  it('control: permits both if the operator allows private hosts', async () => {
    const { server, settings } = serverBehindName(true);
    await failure(server.prepare(settings));
    expect(inside.connections, 'by name').to.equal(1);
    const open = await ProvidersHost.start({ allowPrivateHosts: true });
    await open.operations['ai.providers.create'](ADMIN, provider('p', { issuer: inside.url }));
    await failure(open.operations['ai.providers.connect'](ALICE, { providerId: 'p', binding: BINDING }));
    await open.stop();
    expect(inside.connections, 'by address').to.be.greaterThan(1);
  });
});
