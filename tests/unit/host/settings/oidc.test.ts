/** The settings of signing in at an OpenID provider. */
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readOidcSettings } from '../../../../imports/host/settings/oidc';
import type { OidcSettings } from '../../../../imports/host/settings/oidc';

const LEAST = { OIDC_ISSUER: 'https://login.example.com/staff', OIDC_CLIENT_ID: 'bolide', OIDC_USERS: 'ann' };

const read = (
  env: Readonly<Record<string, string | undefined>>,
  privateHosts: boolean | readonly string[] = false,
): OidcSettings | undefined => readOidcSettings((name) => env[name], privateHosts);

describe('readOidcSettings', () => {
  it('is off by default', () => {
    expect(read({})).to.equal(undefined);
  });

  it('has defaults: a public client, ids of the issuer, tokens beside it', () => {
    const settings = read(LEAST);
    expect(settings?.issuer.href).to.equal(LEAST.OIDC_ISSUER);
    expect(settings).to.deep.include({
      clientId: 'bolide',
      scopes: ['openid', 'profile', 'email'],
      name: 'login.example.com',
      isOnly: false,
      endsSession: false,
      rules: { userId: 'sub', admins: [], users: ['ann'], groupsClaim: 'groups', adminGroups: [], userGroups: [] },
    });
    expect(settings).not.to.have.property('clientSecret');
  });

  it('reads everything', () => {
    const settings = read({
      ...LEAST,
      OIDC_CLIENT_SECRET: 's',
      OIDC_SCOPES: 'openid,groups',
      OIDC_NAME: 'Acme',
      OIDC_USER_ID: 'email',
      OIDC_ADMINS: ' root@example.com , 7,',
      OIDC_USERS: '@example.com',
      OIDC_GROUPS_CLAIM: 'roles',
      OIDC_ADMIN_GROUPS: 'ops',
      OIDC_USER_GROUPS: 'staff,guests',
      OIDC_ONLY: 'TRUE',
      OIDC_SIGN_OUT: '1',
    });
    expect(settings).to.deep.include({
      clientSecret: 's',
      scopes: ['openid', 'groups'],
      name: 'Acme',
      isOnly: true,
      endsSession: true,
      rules: {
        userId: 'email',
        admins: ['root@example.com', '7'],
        users: ['@example.com'],
        groupsClaim: 'roles',
        adminGroups: ['ops'],
        userGroups: ['staff', 'guests'],
      },
    });
  });

  it('takes http from this machine, and from hosts that the operator permits', () => {
    for (const url of ['http://127.0.0.1:8080', 'http://localhost/a', 'http://[::1]:1'])
      expect(read({ ...LEAST, OIDC_ISSUER: url }), url).not.to.equal(undefined);
    const plain = { ...LEAST, OIDC_ISSUER: 'http://keycloak:8080/realms/staff' };
    expect(() => read(plain)).to.throw(LLMInvalidRequestError, 'OIDC_ISSUER must be the https URL');
    expect(read(plain, ['keycloak'])?.name).to.equal('keycloak');
  });

  for (const [name, value, reason] of [
    ['OIDC_ISSUER', 'login.example.com', 'must be the https URL'],
    ['OIDC_ISSUER', 'https://a:b@login.example.com', 'without credentials'],
    ['OIDC_ISSUER', 'https://login.example.com?x', 'without credentials, query'],
    ['OIDC_ISSUER', '', 'OIDC_CLIENT_ID is set, but OIDC_ISSUER is not'],
    ['OIDC_CLIENT_ID', '', 'must be the id'],
    ['OIDC_SCOPES', 'profile', 'must include openid'],
    ['OIDC_USER_ID', 'preferred_username', 'must be sub or email'],
    ['OIDC_USERS', '', 'Nobody may sign in'],
    ['OIDC_USERS', '*@example.com', 'has "*@example.com"'],
    ['OIDC_USERS', '@', 'has "@"'],
    ['OIDC_ADMINS', '*', 'must not be *'],
    ['OIDC_ONLY', 'yes', 'must be true or false'],
    ['OIDC_SIGN_OUT', 'maybe', 'must be true or false'],
  ] as const)
    it(`refuses ${name}=${value}`, () => {
      expect(() => read({ ...LEAST, [name]: value }))
        .to.throw(LLMInvalidRequestError, reason)
        .with.property('path', name);
    });

  it('names everything that is wrong', () => {
    expect(() => read({ OIDC_ISSUER: 'x', OIDC_USERS: '*' })).to.throw(/2 settings are invalid:\n- OIDC_I.*\n- OIDC_C/);
  });
});
