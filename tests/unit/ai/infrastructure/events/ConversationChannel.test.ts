import { expect } from 'chai';
import fc from 'fast-check';
import {
  ConversationChannel,
  DEFAULT_CHANNEL_LIMITS,
} from '../../../../../imports/business/ai/infrastructure/events/ConversationChannel';
import type { ChannelEvent } from '../../../../../imports/business/ai/infrastructure/events/ConversationChannel';
import { ConversationChannels } from '../../../../../imports/business/ai/infrastructure/events/ConversationChannels';

class TestSubscriber {
  readonly events: ChannelEvent[] = [];
  gaps = 0;
  /** The id at which the subscription started. */
  origin = '';
  readonly stop: () => void;

  constructor(channel: ConversationChannel, lastEventId?: string) {
    this.stop = channel.subscribe(
      { event: (event) => this.events.push(event), gap: () => (this.gaps += 1), start: (id) => (this.origin = id) },
      lastEventId,
    );
  }

  get text(): string {
    return this.events.map(({ data }) => data).join('|');
  }

  get lastId(): string {
    return this.events.at(-1)?.id ?? this.origin;
  }
}

function publish(channel: ConversationChannel, ...texts: readonly string[]): void {
  const response = channel.begin();
  for (const text of texts) response.send(text);
  response.done();
}

describe('ConversationChannel', () => {
  it('delivers every event to every subscriber, in order and with distinct ids', () => {
    const channel = new ConversationChannel();
    const subscribers = [new TestSubscriber(channel), new TestSubscriber(channel)];
    publish(channel, 'a', 'b');
    for (const subscriber of subscribers) expect(subscriber.text).to.equal('a|b|[DONE]');
    expect(new Set(subscribers[0]!.events.map(({ id }) => id)).size).to.equal(3);
    expect(subscribers[0]!.events).to.deep.equal(subscribers[1]!.events);
  });

  it('ends a response once: with [DONE], after a failure preceded by one line that describes it', () => {
    const channel = new ConversationChannel();
    const subscriber = new TestSubscriber(channel);
    const response = channel.begin();
    response.send('a');
    response.fail('it broke\n  on two\r\nlines');
    response.done();
    response.fail('again');
    response.send('late');
    expect(subscriber.text).to.equal('a|ERROR: it broke on two lines|[DONE]');
  });

  it('replays the start of an unfinished response to a new subscriber', () => {
    const channel = new ConversationChannel();
    const response = channel.begin();
    response.send('a');
    response.send('b');
    const subscriber = new TestSubscriber(channel);
    response.send('c');
    response.done();
    expect(subscriber.text).to.equal('a|b|c|[DONE]');
  });

  it('replays every undelivered response to a late subscriber', () => {
    const channel = new ConversationChannel();
    publish(channel, 'one');
    publish(channel, 'two');
    expect(new TestSubscriber(channel).text).to.equal('one|[DONE]|two|[DONE]');
  });

  it('replays a delivered response only if it is the latest one', () => {
    const channel = new ConversationChannel();
    const first = new TestSubscriber(channel);
    publish(channel, 'one');
    first.stop();
    expect(new TestSubscriber(channel).text).to.equal('one|[DONE]');
    publish(channel, 'two');
    const third = channel.begin();
    expect(new TestSubscriber(channel).text).to.equal('');
    third.send('three');
    expect(new TestSubscriber(channel).text).to.equal('three');
  });

  it('replays exactly what a reconnecting subscriber missed', () => {
    const channel = new ConversationChannel();
    const subscriber = new TestSubscriber(channel);
    const response = channel.begin();
    response.send('a');
    subscriber.stop();
    response.send('b');
    response.done();
    publish(channel, 'c');
    const back = new TestSubscriber(channel, subscriber.lastId);
    publish(channel, 'd');
    expect(back.text).to.equal('b|[DONE]|c|[DONE]|d|[DONE]');
    expect(new TestSubscriber(channel, back.lastId).text).to.equal('');
    expect(subscriber.text).to.equal('a');
  });

  for (const [title, next, expected] of [
    ['goes on where a subscriber of another process was', ['The sun is', ' a star.'], 'is| a star.|[DONE]'],
    ['goes on when it has reached the place', ['The', ' sun is a star.'], 'is a star.|[DONE]'],
    [
      'begins again for a subscriber that has another beginning',
      ['Stars ', 'shine.'],
      'The answer begins again.|Stars shine.|[DONE]',
    ],
    ['begins again if it ends before the place', ['The'], 'The answer begins again.|The|[DONE]'],
  ] as const)
    it(`${title}, whether the answer comes before it or after it`, () => {
      const dead = new ConversationChannel();
      const subscriber = new TestSubscriber(dead);
      const cut = dead.begin('m');
      cut.send('The ');
      cut.send('sun ');
      for (const isEarly of [true, false]) {
        const channel = new ConversationChannel();
        channel.announce('m');
        const early = isEarly ? new TestSubscriber(channel, subscriber.lastId) : undefined;
        const answer = channel.begin('m');
        for (const text of next) answer.send(text);
        answer.done();
        const back = early ?? new TestSubscriber(channel, subscriber.lastId);
        expect(back.text).to.equal(expected);
        expect(new TestSubscriber(channel, back.lastId).text).to.equal('');
      }
    });

  it('tells its subscribers that an answer begins again', () => {
    const channel = new ConversationChannel();
    const subscriber = new TestSubscriber(channel);
    const answer = channel.begin('m');
    answer.restart?.();
    answer.send('a');
    answer.restart?.();
    answer.send('b');
    answer.done();
    expect(subscriber.events.map(({ data, type = data }) => type)).to.deep.equal(['a', 'restarted', 'b', '[DONE]']);
  });

  it('fills in answers of other processes, but not into its own', () => {
    const channel = new ConversationChannel();
    const subscriber = new TestSubscriber(channel);
    const own = channel.begin('own');
    own.send('a');
    channel.fill('own', { text: 'ab' });
    own.done();
    channel.announce('other');
    expect(channel.isResponding).to.equal(false);
    channel.fill('other', { text: 'c', failure: 'It broke.' });
    channel.fill('other', { text: 'c', failure: 'It broke.' });
    expect(subscriber.text).to.equal('a|[DONE]|c|ERROR: It broke.|[DONE]');
  });

  it('loses and duplicates nothing, however often a subscriber reconnects', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('send', 'end', 'fail', 'drop', 'back'), { maxLength: 60 }), (moves) => {
        const channel = new ConversationChannel();
        const witness = new TestSubscriber(channel);
        let subscriber = new TestSubscriber(channel);
        let isSubscribed = true;
        const received: ChannelEvent[] = [];
        let response = channel.begin();
        const drop = (): void => {
          subscriber.stop();
          if (isSubscribed) received.push(...subscriber.events);
          isSubscribed = false;
        };
        moves.forEach((move, index) => {
          switch (move) {
            case 'send':
              response.send(String(index));
              break;
            case 'end':
            case 'fail':
              if (move === 'end') response.done();
              else response.fail('x');
              response = channel.begin();
              break;
            case 'drop':
              drop();
              break;
            case 'back':
              if (!isSubscribed) subscriber = new TestSubscriber(channel, subscriber.lastId);
              isSubscribed = true;
          }
        });
        drop();
        expect([...received, ...new TestSubscriber(channel, subscriber.lastId).events]).to.deep.equal(witness.events);
      }),
      { numRuns: 300 },
    );
  });

  it('stays within its event limit, and reports a gap', () => {
    const channel = new ConversationChannel({ events: 10, characters: 1_000 });
    const subscriber = new TestSubscriber(channel);
    const response = channel.begin();
    response.send('0');
    subscriber.stop();
    for (let n = 1; n <= 100; n += 1) response.send(String(n));
    const back = new TestSubscriber(channel, subscriber.lastId);
    expect(back.gaps).to.equal(1);
    expect(back.events.length).to.be.within(5, 10);
    expect(back.events.at(-1)?.data).to.equal('100');
    const late = new TestSubscriber(channel);
    expect(late.gaps).to.equal(1);
  });

  it('stays within its character limit', () => {
    const channel = new ConversationChannel({ events: 1_000, characters: 100 });
    const response = channel.begin();
    for (let n = 0; n < 50; n += 1) response.send('x'.repeat(30));
    expect(new TestSubscriber(channel).events.length).to.be.within(1, 3);
    response.send('y'.repeat(5_000));
    expect(new TestSubscriber(channel).text).to.equal('y'.repeat(5_000));
  });

  it('treats ids from before a restart, and invalid ids, like a missing id', () => {
    const old = new ConversationChannel();
    publish(old, 'a', 'b', 'c');
    const stale = new TestSubscriber(old).lastId;
    const channel = new ConversationChannel();
    publish(channel, 'new');
    for (const id of [
      stale,
      '',
      '7',
      'x-1',
      '-',
      `${new TestSubscriber(channel).lastId.split('-')[0] ?? ''}-99`,
      '__proto__',
    ]) {
      const subscriber = new TestSubscriber(channel, id);
      expect(subscriber.text, id).to.equal('new|[DONE]');
      expect(subscriber.gaps).to.equal(0);
    }
  });

  it('escapes model output that looks like an end marker', () => {
    for (const text of [
      '[DONE]',
      'a\n[DONE]',
      '[DONE]\nb',
      'a\n[DONE]\nb',
      'ERROR: x',
      'a\nERROR: x',
      '[DONE]\r\n[DONE]',
    ]) {
      const channel = new ConversationChannel();
      const subscriber = new TestSubscriber(channel);
      channel.begin().send(text);
      const lines = subscriber.events.flatMap(({ data }) => data.split(/[\r\n]+/));
      expect(subscriber.events.map(({ data }) => data).join('')).to.equal(text);
      for (const line of lines) expect(line).not.to.match(/^\[DONE\]$|^ERROR: /);
    }
  });

  it('forgets undelivered responses beyond its limits', () => {
    const channel = new ConversationChannel({ events: 10, characters: 1_000 });
    for (let n = 0; n < 10_000; n += 1) publish(channel, String(n));
    const subscriber = new TestSubscriber(channel);
    expect(subscriber.events.length).to.be.at.most(10);
    expect(subscriber.events.at(-2)?.data).to.equal('9999');
  });
});

describe('ConversationChannels', () => {
  it('returns one channel per user and conversation', () => {
    const channels = new ConversationChannels();
    expect(channels.of('ann', 'c')).to.equal(channels.of('ann', 'c'));
    expect(channels.of('bob', 'c')).not.to.equal(channels.of('ann', 'c'));
    expect(channels.of('a', 'b c')).not.to.equal(channels.of('a b', 'c'));
  });

  it('evicts idle channels beyond its limit, but none with subscribers or an unfinished response', () => {
    const channels = new ConversationChannels({ ...DEFAULT_CHANNEL_LIMITS, channels: 3 });
    const subscribed = channels.of('ann', 'subscribed');
    const stop = subscribed.subscribe({ event: () => undefined, gap: () => undefined, start: () => undefined });
    const responding = channels.of('ann', 'responding');
    const response = responding.begin();
    for (let n = 0; n < 20; n += 1) channels.of('ann', `idle ${n}`);
    expect(channels.size).to.equal(3);
    expect(channels.of('ann', 'subscribed')).to.equal(subscribed);
    expect(channels.of('ann', 'responding')).to.equal(responding);
    stop();
    response.done();
    for (let n = 0; n < 20; n += 1) channels.of('ann', `more ${n}`);
    expect(channels.size).to.equal(3);
    expect(channels.of('ann', 'subscribed')).not.to.equal(subscribed);
  });
});
