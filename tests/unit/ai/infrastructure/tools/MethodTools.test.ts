/** Methods as tools: real invocations as the run's user, of exposed methods only. */
import { expect } from 'chai';
import { check } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { DDPRateLimiter } from 'meteor/ddp-rate-limiter';
import { Meteor } from 'meteor/meteor';
import { ToolError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { MethodTools } from '../../../../../imports/business/ai/infrastructure/tools/MethodTools';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { registry, resetMeteor } from '../../../../stubs/server/registry';
import { failure } from '../../../../support/failure';

interface Invocation {
  readonly userId: string | null;
  readonly connection: unknown;
  setUserId(userId: string): Promise<void>;
}

describe('MethodTools', () => {
  let tools: ToolRegistry;
  beforeEach(() => {
    resetMeteor();
    tools = new ToolRegistry();
    Meteor.methods({
      async 'orders.lookup'(this: Invocation, given: unknown) {
        check(given, { number: String });
        await Promise.resolve();
        return { number: given.number, userId: this.userId, connection: this.connection, inner: Meteor.userId() };
      },
      async 'orders.nested'(given: unknown) {
        check(given, Object);
        return Meteor.callAsync('orders.lookup', { number: '7' });
      },
      'orders.secret': () => 'secret',
      'orders.fails'(given: unknown) {
        check(given, Object);
        throw new Error('the database password is hunter2');
      },
      'orders.refuses'(given: unknown) {
        check(given, Object);
        throw new Meteor.Error('no-such-order', 'You have no such order.');
      },
      'orders.invalid'(given: unknown) {
        check(given, Object);
        throw new Meteor.Error('validation-error', 'Invalid.', [{ name: 'number', type: 'required' }]);
      },
      'orders.safe'(given: unknown) {
        check(given, Object);
        throw Object.assign(new Error('secret'), { isClientSafe: true, error: 'sold-out', reason: 'Sold out.' });
      },
      async 'orders.login'(this: Invocation, given: unknown) {
        check(given, Object);
        await this.setUserId('admin');
      },
      'orders.unchecked': () => 'unchecked',
    });
    const methods = new MethodTools({ Meteor, DDP });
    for (const name of [
      'orders.lookup',
      'orders.nested',
      'orders.fails',
      'orders.refuses',
      'orders.invalid',
      'orders.safe',
      'orders.login',
      'orders.unchecked',
      'orders.missing',
    ])
      tools.register(methods.expose(name, { description: name, parameters: { type: 'object' } }));
  });
  after(() => resetMeteor());

  const context = (userId: string) => ({
    signal: new AbortController().signal,
    userId,
    callId: 'c',
    executionId: 'e',
    idempotencyKey: 'k',
    progress: () => undefined,
  });
  const run = async (name: string, args: unknown, userId = 'bob'): Promise<unknown> =>
    tools.execute(name, args, context(userId));

  it("run a method and its nested calls as the run's user, without a connection", async () => {
    const seen = { number: '7', userId: 'bob', connection: null, inner: 'bob' };
    expect(await run('orders_lookup', { number: '7' })).to.deep.equal(seen);
    expect(await run('orders_nested', {})).to.deep.equal(seen);
    expect(await run('orders_lookup', { number: '7' }, '')).to.include({ userId: null });
  });

  it("isolate each run's user from other runs and from the caller that started the run", async () => {
    const asEve = DDP._CurrentMethodInvocation.withValue({ userId: 'eve', connection: null }, () =>
      Promise.all(['bob', 'cat'].map((userId) => run('orders_lookup', { number: '7' }, userId))),
    );
    expect((await asEve).map((seen) => (seen as { userId: string }).userId)).to.deep.equal(['bob', 'cat']);
  });

  it('offer only exposed methods', async () => {
    expect(tools.hasToolFunction('orders_secret')).to.equal(false);
    expect(await failure(run('orders_secret', {}))).to.be.instanceOf(ToolError);
  });

  it("apply the method's own checks", async () => {
    for (const wrong of [{ number: { $gt: '' } }, { number: '7', other: 1 }, {}]) {
      expect(await failure(run('orders_lookup', wrong)))
        .to.be.instanceOf(ToolError)
        .with.property('message', 'Match failed [400]');
    }
    expect(await failure(run('orders_unchecked', {}))).to.have.property('message', 'Internal server error [500]');
  });

  it('report to the model exactly what a client would get', async () => {
    expect(await failure(run('orders_refuses', {}))).to.have.property(
      'message',
      'You have no such order. [no-such-order]',
    );
    expect(registry.log).to.have.length(0);
    expect(await failure(run('orders_fails', {}))).to.have.property('message', 'Internal server error [500]');
    // Only the server's log has the rest.
    expect(registry.log.map(({ context, error }) => `${context}: ${String(error)}`).join()).to.match(
      /^Exception while invoking method 'orders.fails': Error: the database password is hunter2/,
    );
    expect(await failure(run('orders_missing', {}))).to.have.property(
      'message',
      "Method 'orders.missing' not found [404]",
    );
    expect(await failure(run('orders_invalid', {}))).to.have.property(
      'message',
      'Invalid. [validation-error] [{"name":"number","type":"required"}]',
    );
    expect(await failure(run('orders_safe', {}))).to.have.property('message', 'Sold out. [sold-out]');
  });

  it("are limited by the app's rules for methods, each user by themselves", async () => {
    const limited = new MethodTools({ Meteor, DDP, DDPRateLimiter });
    const parameters = { type: 'object' };
    tools.register(limited.expose('orders.lookup', { name: 'limited', description: 'Limited.', parameters }));
    DDPRateLimiter.addRule({ type: 'method', name: 'orders.lookup', connectionId: () => true }, 2, 60_000);
    for (const userId of ['bob', 'cat']) {
      for (let call = 0; call < 2; call += 1) await run('limited', { number: '7' }, userId);
      expect(String(await failure(run('limited', { number: '7' }, userId)))).to.match(
        /too many requests.*\[too-many-requests\]/,
      );
    }
  });

  it('do not let a method log a user in', async () => {
    expect(await failure(run('orders_login', {}))).to.be.instanceOf(ToolError);
  });

  it('explain when this version of Meteor cannot run methods as a user', () => {
    const { _CurrentMethodInvocation } = DDP;
    Reflect.set(DDP, '_CurrentMethodInvocation', undefined);
    try {
      expect(() => new MethodTools({ Meteor, DDP })).to.throw(/DDP\._CurrentMethodInvocation/);
    } finally {
      Reflect.set(DDP, '_CurrentMethodInvocation', _CurrentMethodInvocation);
    }
  });
});
