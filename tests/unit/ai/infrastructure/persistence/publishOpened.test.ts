/** Sealed documents on their way to a subscription: opened, in order, and without those that are unreadable. */
import { expect } from 'chai';
import type { MeteorSubscription } from '../../../../../imports/business/ai/domain/interfaces/MeteorServer';
import type { MeteorObserver } from '../../../../../imports/database/meteor/MeteorMongo';
import { publishOpened } from '../../../../../imports/business/privacy/infrastructure/publishOpened';
import type {
  OpenContent,
  PublishedCursor,
} from '../../../../../imports/business/privacy/infrastructure/publishOpened';

class Subscribed {
  readonly sent: unknown[] = [];
  readonly errors: unknown[] = [];
  handles = 0;
  derive: PublishedCursor['derive'];
  observer: MeteorObserver = {};
  stop: () => void = () => undefined;

  /** @param existing ids of the documents that there are */
  async publish(open: OpenContent, existing: readonly string[]): Promise<void> {
    const subscription: Partial<MeteorSubscription> = {
      added: (...message) => void this.sent.push(['added', ...message]),
      changed: (...message) => void this.sent.push(['changed', ...message]),
      removed: (...message) => void this.sent.push(['removed', ...message]),
      ready: () => void this.sent.push(['ready']),
      onStop: (callback) => (this.stop = callback),
    };
    const cursor = {
      fetchAsync: () => Promise.resolve([]),
      countAsync: () => Promise.resolve(0),
      observeChangesAsync: (observer: MeteorObserver) => {
        this.observer = observer;
        this.handles += 1;
        for (const id of existing) void observer.added?.(id, { text: `sealed ${id}` });
        return Promise.resolve({ stop: () => void (this.handles -= 1) });
      },
    };
    const onError = (error: unknown): void => void this.errors.push(error);
    const published = { collection: 'notes', cursor, derive: this.derive };
    await publishOpened(subscription as MeteorSubscription, [published], { open, onError });
  }
}

const opened: OpenContent = (_collection, document) =>
  Promise.resolve({ ...document, ...('text' in document ? { text: 'open' } : {}) });

describe('publishOpened', () => {
  it('sends documents in the order of what is observed, however long each takes to open, and then ready', async () => {
    const subscribed = new Subscribed();
    let release = (): void => undefined;
    const first = new Promise<void>((resolve) => (release = resolve));
    const published = subscribed.publish(
      async (collection, document) => {
        if (document._id === 'a') await first;
        return opened(collection, document);
      },
      ['a', 'b'],
    );
    release();
    await published;
    await subscribed.observer.changed?.('a', { text: 'sealed', note: undefined });
    await subscribed.observer.removed?.('b');
    expect(subscribed.sent).to.deep.equal([
      ['added', 'notes', 'a', { text: 'open' }],
      ['added', 'notes', 'b', { text: 'open' }],
      ['ready'],
      ['changed', 'notes', 'a', { text: 'open', note: undefined }],
      ['removed', 'notes', 'b'],
    ]);
  });

  it('derives fields from what has been opened', async () => {
    const subscribed = new Subscribed();
    subscribed.derive = (fields) => ({ ...fields, copy: fields['text'] });
    await subscribed.publish(opened, ['a']);
    expect(subscribed.sent[0]).to.deep.equal(['added', 'notes', 'a', { text: 'open', copy: 'open' }]);
  });

  it('says nothing of unreadable documents', async () => {
    const subscribed = new Subscribed();
    await subscribed.publish(
      (_collection, document) => Promise.resolve(document._id === 'a' ? undefined : document),
      ['a', 'b'],
    );
    await subscribed.observer.changed?.('a', { state: 'closed' });
    await subscribed.observer.removed?.('a');
    expect(subscribed.sent).to.deep.equal([['added', 'notes', 'b', { text: 'sealed b' }], ['ready']]);
  });

  it('reports what does not open, and stops observing with the subscription', async () => {
    const subscribed = new Subscribed();
    await subscribed.publish(opened, []);
    expect(subscribed.handles).to.equal(1);
    const failing = new Subscribed();
    await failing.publish(() => Promise.reject(new Error('altered')), ['a']);
    expect(failing.errors).to.have.length(1);
    subscribed.stop();
    expect(subscribed.handles).to.equal(0);
    await subscribed.observer.added?.('late', { text: 'sealed' });
    expect(subscribed.sent).to.deep.equal([['ready']]);
  });
});
