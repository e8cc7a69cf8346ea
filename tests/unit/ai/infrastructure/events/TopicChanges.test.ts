import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { TopicChanges } from '../../../../../imports/business/ai/infrastructure/events/TopicChanges';

describe('TopicChanges', () => {
  let clock: SinonFakeTimers;
  let changes: TopicChanges;
  beforeEach(() => {
    clock = useFakeTimers();
    changes = new TopicChanges();
  });
  afterEach(() => clock.restore());

  const listen = (userId: string, isAdmin = false): string[] => {
    const received: string[] = [];
    changes.subscribe({ userId, isAdmin, source: 'http' }, (topics) => received.push(topics.join()));
    return received;
  };

  it('notifies users of their own changes, and admins of everyone’s', () => {
    const [ann, bob, admin] = [listen('ann'), listen('bob'), listen('root', true)];
    changes.notify('requests', 'ann');
    clock.tick(200);
    expect([ann, bob, admin]).to.deep.equal([['requests'], [], ['requests']]);
    changes.notify('budgets');
    clock.tick(200);
    expect([ann, bob, admin]).to.deep.equal([['requests', 'budgets'], ['budgets'], ['requests', 'budgets']]);
  });

  it('collects many changes into one notification that names each topic once', () => {
    const ann = listen('ann');
    for (let count = 0; count < 100; count += 1) changes.notify(count % 2 === 0 ? 'requests' : 'queue', 'ann');
    clock.tick(200);
    expect(ann).to.deep.equal(['requests,queue']);
  });

  it('notifies no listener that has unsubscribed', () => {
    const received: unknown[] = [];
    const unsubscribe = changes.subscribe({ userId: 'ann', source: 'http' }, (topics) => received.push(topics));
    changes.notify('runs');
    unsubscribe();
    clock.tick(1_000);
    expect(received).to.deep.equal([]);
    expect(changes.size).to.equal(0);
  });
});
