/** The stubs of a browser's Meteor are as strict as ddp-client, accounts-base and Tracker. */
import { expect } from 'chai';
import type { DocumentQuery } from '../../../imports/ui/data/meteor/trackDocuments';
import { check, Match } from '../../stubs/meteor/check';
import { MeteorError } from '../../stubs/server/MeteorError';
import { registry, resetMeteor } from '../../stubs/server/registry';
import { deferred } from '../../support/deferred';
import { failure } from '../../support/failure';
import { addLogin, PASSWORD } from '../../support/meteorClient/addLogin';
import { MeteorBrowser } from '../../support/meteorClient/MeteorBrowser';

interface Thing {
  readonly _id: string;
  readonly version: number;
}

describe('the stubs of a browser’s Meteor', () => {
  let browser: MeteorBrowser;
  beforeEach(async () => {
    resetMeteor();
    addLogin(['ann']);
    browser = await MeteorBrowser.open();
  });
  afterEach(() => {
    browser.close();
    resetMeteor();
  });

  const define = (name: string, run: () => unknown): void => {
    registry.methods.set(name, (...args: never[]) => {
      check(args, [Match.Any]);
      return run();
    });
  };
  const apply = (name: string, options?: object): Promise<unknown> =>
    browser.page.Meteor.applyAsync(name, browser.own([]), options === undefined ? undefined : browser.own(options));

  describe('applyAsync', () => {
    it('resolves to undefined before the server responds, whether or not that is an error', async () => {
      const gate = deferred<undefined>();
      define('double', async () => {
        await gate.promise;
        return 2;
      });
      define('fail', () => {
        throw new MeteorError('no', 'No.');
      });
      expect(await apply('double', { noRetry: true })).to.equal(undefined);
      expect(await apply('fail')).to.equal(undefined);
      gate.resolve(undefined);
    });

    it('resolves to the server’s result, or rejects with its error, if it is asked to', async () => {
      define('double', () => 2);
      define('fail', () => {
        throw new MeteorError('no', 'No.', { field: 'x' });
      });
      expect(await apply('double', { returnServerResultPromise: true })).to.equal(2);
      expect(await browser.page.Meteor.callAsync('double')).to.equal(2);
      const error = await failure(apply('fail', { returnServerResultPromise: true }));
      expect(error).to.include({ error: 'no', reason: 'No.', message: 'No. [no]' });
    });

    it('is sent again after a lost connection, unless it has noRetry', async () => {
      const received = { once: 0, again: 0 };
      define('once', () => {
        received.once += 1;
        return new Promise(() => undefined);
      });
      define('again', () => {
        received.again += 1;
        return received.again === 1 ? new Promise(() => undefined) : 'second';
      });
      const again = apply('again', { returnServerResultPromise: true });
      await browser.waitFor(() => received.again === 1);
      browser.dropConnection();
      expect(await again).to.equal('second');
      const once = failure(apply('once', { noRetry: true, returnServerResultPromise: true }));
      await browser.waitFor(() => received.once === 1);
      browser.dropConnection();
      expect(await once).to.include({ error: 'invocation-failed' });
      await browser.waitFor(() => browser.page.Meteor.status().connected);
      expect(received).to.deep.equal({ once: 1, again: 2 });
    });
  });

  describe('accounts', () => {
    const login = (password: string): Promise<Error | undefined> =>
      new Promise((resolve) => browser.page.Meteor.loginWithPassword('ann', password, resolve));

    it('is logging in from the call to the response, and reports an error with code and reason', async () => {
      const { Meteor, Tracker } = browser.page;
      const seen: boolean[] = [];
      Tracker.autorun(() => void seen.push(Meteor.loggingIn()));
      const response = login('wrong');
      expect(Meteor.loggingIn()).to.equal(true);
      expect(await response).to.include({
        error: 403,
        reason: 'Something went wrong. Please check your credentials.',
      });
      await browser.waitFor(() => seen.length === 3);
      expect(seen).to.deep.equal([false, true, false]);
      expect(Meteor.userId()).to.equal(null);
    });

    it('knows the id of a resumed login before the user document arrives, and is not logging in on a reconnect', async () => {
      const gate = deferred<undefined>();
      addLogin(['ann'], { gate: () => gate.promise });
      browser.close();
      browser = await MeteorBrowser.open({ token: { token: 'token-of-ann', userId: 'ann' } });
      const { Meteor } = browser.page;
      expect([Meteor.userId(), Meteor.user(), Meteor.loggingIn()]).to.deep.equal(['ann', undefined, true]);
      gate.resolve(undefined);
      await browser.waitFor(() => !Meteor.loggingIn());
      expect(Meteor.user()?.username).to.equal('ann');
      browser.dropConnection();
      await browser.waitFor(() => browser.sent.filter(({ method }) => method === 'login').length === 2);
      expect(Meteor.loggingIn()).to.equal(false);
    });

    it('forgets a login after logout', async () => {
      expect(await login(PASSWORD)).to.equal(undefined);
      await new Promise<unknown>((resolve) => browser.page.Meteor.logout(resolve));
      expect(browser.page.Meteor.userId()).to.equal(null);
    });
  });

  describe('subscriptions', () => {
    it('continue without a gap when their computation reruns, and end when it stops', async () => {
      registry.publications.set('list', function () {
        this.added('things', 'a', { n: 1 });
        this.ready();
      });
      const { Meteor, Tracker } = browser.page;
      const dependency = new Tracker.Dependency();
      let runs = 0;
      const computation = Tracker.autorun(() => {
        dependency.depend();
        runs += 1;
        Meteor.subscribe('list');
      });
      for (const count of [2, 3]) {
        dependency.changed();
        await browser.waitFor(() => runs === count);
      }
      await browser.settle();
      expect(browser.sent.map(({ msg }) => msg)).to.deep.equal(['sub']);
      computation.stop();
      await browser.waitFor(() => browser.sent.at(-1)?.msg === 'unsub');
    });

    it('show the documents before a lost connection until those after it have arrived', async () => {
      let version = 1;
      registry.publications.set('list', function () {
        this.added('things', String(version), { version });
        this.ready();
      });
      const { Meteor, Tracker, trackDocuments } = browser.page;
      const things: DocumentQuery<Thing> = { collection: 'things' };
      const seen: string[] = [];
      Tracker.autorun(() => {
        seen.push(
          trackDocuments(things)
            .map((thing) => thing.version)
            .join(),
        );
      });
      Meteor.subscribe('list');
      await browser.waitFor(() => seen.length === 2);
      version = 2;
      browser.dropConnection();
      await browser.waitFor(() => seen.length === 3);
      expect(seen).to.deep.equal(['', '1', '2']);
    });
  });

  describe('Tracker', () => {
    it('reruns an invalidated computation in the next flush, once for any number of changes', async () => {
      const { Tracker } = browser.page;
      const dependency = new Tracker.Dependency();
      let runs = 0;
      const computation = Tracker.autorun(() => {
        dependency.depend();
        runs += 1;
      });
      dependency.changed();
      dependency.changed();
      expect([runs, computation.invalidated]).to.deep.equal([1, true]);
      await browser.settle();
      expect(runs).to.equal(2);
      dependency.changed();
      Tracker.flush();
      expect(runs).to.equal(3);
      computation.stop();
      dependency.changed();
      await browser.settle();
      expect(runs).to.equal(3);
    });

    it('stops the computations within a computation that reruns, and runs afterFlush after the reruns', () => {
      const { Tracker } = browser.page;
      const dependency = new Tracker.Dependency();
      const order: string[] = [];
      Tracker.autorun(() => {
        dependency.depend();
        order.push('outer');
        Tracker.autorun((inner) => {
          order.push('inner');
          inner.onStop(() => order.push('stopped'));
        });
      });
      Tracker.afterFlush(() => order.push('flushed'));
      dependency.changed();
      Tracker.flush();
      expect(order).to.deep.equal(['outer', 'inner', 'stopped', 'outer', 'inner', 'flushed']);
    });
  });
});
