import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readPackages } from '../../../../imports/host/meteor/readPackages';
import { startBolide } from '../../../../imports/host/meteor/startBolide';
import { registry, resetMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';
import { METEOR_PACKAGES } from '../../../meteor/meteorPackages';

const packageList = globalThis as { Package?: Readonly<Record<string, object>> };
const { Meteor, Mongo, WebApp, Accounts, DDPRateLimiter, check, Match } = METEOR_PACKAGES;

describe('the objects that a Meteor app hands in', () => {
  beforeEach(() => resetMeteor());
  afterEach(() => {
    delete packageList.Package;
    resetMeteor();
  });

  const read = (packages: object): unknown => readPackages(packages as never);

  it('are named with their imports if they are missing, all in one error', () => {
    for (const nothing of [{}, undefined])
      expect(() => read(nothing as never))
        .to.throw(LLMInvalidRequestError)
        .with.property('message')
        .that.contains("Meteor is missing: import { Meteor } from 'meteor/meteor';")
        .and.contains("Mongo is missing: import { Mongo } from 'meteor/mongo';")
        .and.contains("WebApp is missing: import { WebApp } from 'meteor/webapp';")
        .and.contains("Accounts is missing: import { Accounts } from 'meteor/accounts-base';");
  });

  const WRONG: readonly (readonly [title: string, wrong: object, path: string, message: string])[] = [
    ['another object', { Mongo: Meteor }, 'Mongo', 'Mongo has no Collection'],
    ['null', { WebApp: null }, 'WebApp', 'WebApp is missing'],
    ['a module instead of its export', { WebApp: { WebApp } }, 'WebApp', 'WebApp has no handlers.use, httpServer.on'],
    ['a WebApp of Meteor 2', { WebApp: { httpServer: WebApp.httpServer } }, 'WebApp', 'Meteor 3.1.1 or newer'],
    ['a wrong optional object', { DDPRateLimiter: {} }, 'DDPRateLimiter', 'DDPRateLimiter has no addRule, removeRule'],
    ['a pattern without check', { check: undefined }, 'check', "import { check, Match } from 'meteor/check';"],
  ];
  for (const [title, wrong, path, message] of WRONG)
    it(`are refused: ${title}`, () => {
      const error = (() => {
        try {
          return read({ ...METEOR_PACKAGES, ...wrong });
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error).to.be.instanceOf(LLMInvalidRequestError).with.property('path', path);
      expect(error).to.have.property('message').that.contains(message);
    });

  it('need a package that signs users in', () => {
    const withoutUsers = Object.defineProperties({}, Object.getOwnPropertyDescriptors(Meteor));
    Object.defineProperty(withoutUsers, 'users', { value: undefined });
    expect(() => read({ ...METEOR_PACKAGES, Meteor: withoutUsers }))
      .to.throw(LLMInvalidRequestError, 'meteor add accounts-password')
      .with.property('path', 'Meteor.users');
  });

  it('are completed by the packages of the app', () => {
    const required = { Meteor, Mongo, WebApp, Accounts };
    expect(read(required)).to.deep.include({ DDPRateLimiter: undefined, argumentChecks: undefined });
    packageList.Package = { 'ddp-rate-limiter': { DDPRateLimiter }, check: { check, Match } };
    expect(read(required)).to.deep.include({ DDPRateLimiter, argumentChecks: { check, Match } });
  });

  it('are checked before anything is defined', async () => {
    const error = await failure(startBolide({ Meteor, Mongo, WebApp } as never));
    expect(error).to.be.instanceOf(LLMInvalidRequestError).with.property('path', 'Accounts');
    expect(registry.publications.size).to.equal(0);
  });

  it('leave calls unlimited, and their arguments to the operations, without the optional ones', async () => {
    const settings = { secrets: `k1:${Buffer.alloc(32, 1).toString('base64')}`, ANTHROPIC_API_KEY: 'k' };
    await Meteor.users.insertAsync({ _id: 'ann' });
    const host = await startBolide({ Meteor, Mongo, WebApp, Accounts, settings });
    try {
      expect(registry.rateRules.size).to.equal(0);
      const handler = registry.methods.get('ai.llm.generateText');
      const invocation = { userId: 'ann', connection: null, unblock: () => undefined };
      const calling = Promise.resolve(handler?.call(invocation as never, 5 as never));
      expect(await failure(calling)).to.have.property('error', 'invalid-request');
    } finally {
      await host.close();
    }
  });
});
