import { expect } from 'chai';
import { readSettings } from '../../../../imports/host/settings/defineSettings';
import { describePrivateHosts, hostSettings } from '../../../../imports/host/settings/host';
import { readMeteorSettings } from '../../../../imports/host/settings/meteor';

const SECRETS = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const settingsOf = (variable: string, value?: string) =>
  readSettings(hostSettings, (name) => (name === variable ? value : undefined));
const hostsIn = (value?: string): unknown => settingsOf('AI_ALLOW_PRIVATE_HOSTS', value).allowPrivateHosts;

describe('AI_ALLOW_PRIVATE_HOSTS', () => {
  it('is true, false, or a list of hosts and networks', () => {
    expect([hostsIn(), hostsIn('false'), hostsIn('0'), hostsIn('TRUE'), hostsIn('1')]).to.deep.equal([
      undefined,
      false,
      false,
      true,
      true,
    ]);
    expect(hostsIn(' ollama.lan, 10.1.0.0/16,fd00::/8,localhost ')).to.deep.equal([
      'ollama.lan',
      '10.1.0.0/16',
      'fd00::/8',
      'localhost',
    ]);
  });

  for (const wrong of ['http://a.lan', 'a.lan:8080', '10.0.0.0/33', '10.0.0.0/', '10.0.0', '*', 'a b', '-a.lan'])
    it(`refuses "${wrong}"`, () => {
      expect(() => hostsIn(`ok.lan,${wrong}`)).to.throw(`AI_ALLOW_PRIVATE_HOSTS has "${wrong}"`);
    });

  it('is a list in Meteor’s settings, too', () => {
    const read = (allowPrivateHosts: unknown): unknown =>
      readMeteorSettings({ secrets: SECRETS, allowPrivateHosts }, {}).allowPrivateHosts;
    expect(read(['ollama.lan'])).to.deep.equal(['ollama.lan']);
    expect(read(true)).to.equal(true);
    expect(() => read(['http://a.lan'])).to.throw('Meteor.settings.ai.allowPrivateHosts has "http://a.lan"');
    expect(() => read([1])).to.throw('Meteor.settings.ai.allowPrivateHosts must be true or false');
  });

  it('is warned of if it permits everything', () => {
    expect(describePrivateHosts(true)).to.include('AI_ALLOW_PRIVATE_HOSTS=');
    expect(describePrivateHosts(false)).to.equal(undefined);
    expect(describePrivateHosts(['ollama.lan'])).to.equal(undefined);
  });
});

describe('API_TOKEN_DAYS', () => {
  const lifetimeOf = (value?: string): unknown => settingsOf('API_TOKEN_DAYS', value).tokenLifetimeMs;
  it('is a number of days, or never', () => {
    expect([lifetimeOf(), lifetimeOf('7'), lifetimeOf('never')]).to.deep.equal([undefined, 7 * 86_400_000, 'never']);
    for (const wrong of ['0', '1.5', 'soon', '99999'])
      expect(() => lifetimeOf(wrong), wrong).to.throw(
        'API_TOKEN_DAYS must be a whole number of days from 1 to 36500, or never',
      );
  });
});
