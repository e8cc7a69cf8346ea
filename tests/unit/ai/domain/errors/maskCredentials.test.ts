/** What people receive as JSON names credentials nowhere, in whichever spelling they are stored. */
import { expect } from 'chai';
import { maskCredentials } from '../../../../../imports/business/ai/domain/errors/maskCredentials';
import { loggedJson } from '../../../../../imports/business/requestLog/infrastructure/loggedJson';

const NAMES = [
  'authorization',
  'authorization_token',
  'Proxy-Authorization',
  'proxyAuthorization',
  'x-api-key',
  'apiKey',
  'access_token',
  'refreshToken',
  'client_secret',
  'clientSecret',
  'secret',
  'x_auth_token',
  'idToken',
  'password',
  'Cookie',
];

describe('maskCredentials', () => {
  const forms: readonly (readonly [name: string, mask: (value: object) => unknown])[] = [
    ['an export', maskCredentials],
    ['a logged body', (value) => JSON.parse(loggedJson(value)) as unknown],
  ];
  for (const [form, mask] of forms) {
    it(`masks the texts of credential fields, single and in lists, in ${form}`, () => {
      for (const name of NAMES)
        expect(mask({ tools: [{ [name]: 'plain', list: [{ [name]: ['plain'] }] }] }), name).to.deep.equal({
          tools: [{ [name]: '[redacted]', list: [{ [name]: ['[redacted]'] }] }],
        });
    });

    it(`masks every header, and leaves other fields as they are, in ${form}`, () => {
      expect(mask({ headers: { any: 'plain' }, Headers: 'plain', max_output_tokens: 5, token: 'Hel' })).to.deep.equal({
        headers: { any: '[redacted]' },
        Headers: '[redacted]',
        max_output_tokens: 5,
        token: 'Hel',
      });
    });
  }
});
