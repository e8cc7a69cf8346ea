import { expect } from 'chai';
import fc from 'fast-check';
import {
  ConversationChannel,
  DEFAULT_CHANNEL_LIMITS,
} from '../../../../../imports/business/ai/infrastructure/events/ConversationChannel';
import type { ChannelEvent } from '../../../../../imports/business/ai/infrastructure/events/ConversationChannel';
import { ConversationChannels } from '../../../../../imports/business/ai/infrastructure/events/ConversationChannels';

class Ear {
  readonly events: ChannelEvent[] = [];
  misses = 0;
  /** Where the listening began. */
  origin = '';
  readonly stop: () => void;

  constructor(channel: ConversationChannel, lastEventId?: string) {
    this.stop = channel.subscribe(
      { event: (event) => this.events.push(event), gap: () => (this.misses += 1), start: (id) => (this.origin = id) },
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

function say(channel: ConversationChannel, ...texts: readonly string[]): void {
  const answer = channel.begin();
  for (const text of texts) answer.send(text);
  answer.done();
}

describe('ConversationChannel', () => {
  it('delivers every event to every subscriber, in order and with distinct ids', () => {
    const channel = new ConversationChannel();
    const ears = [new Ear(channel), new Ear(channel)];
    say(channel, 'a', 'b');
    for (const ear of ears) expect(ear.text).to.equal('a|b|[DONE]');
    expect(new Set(ears[0]!.events.map(({ id }) => id)).size).to.equal(3);
    expect(ears[0]!.events).to.deep.equal(ears[1]!.events);
  });

  it('ends a response once: with [DONE], or with one line that describes the failure', () => {
    const channel = new ConversationChannel();
    const ear = new Ear(channel);
    const answer = channel.begin();
    answer.send('a');
    answer.fail('it broke\n  on two\r\nlines');
    answer.done();
    answer.fail('again');
    answer.send('late');
    expect(ear.text).to.equal('a|ERROR: it broke on two lines');
  });

  it('replays the start of an unfinished response to a new subscriber', () => {
    const channel = new ConversationChannel();
    const answer = channel.begin();
    answer.send('a');
    answer.send('b');
    const ear = new Ear(channel);
    answer.send('c');
    answer.done();
    expect(ear.text).to.equal('a|b|c|[DONE]');
  });

  it('replays every undelivered response to a late subscriber', () => {
    const channel = new ConversationChannel();
    say(channel, 'one');
    say(channel, 'two');
    expect(new Ear(channel).text).to.equal('one|[DONE]|two|[DONE]');
  });

  it('replays a delivered response only if it is the latest one', () => {
    const channel = new ConversationChannel();
    const first = new Ear(channel);
    say(channel, 'one');
    first.stop();
    expect(new Ear(channel).text).to.equal('one|[DONE]');
    say(channel, 'two');
    const third = channel.begin();
    expect(new Ear(channel).text).to.equal('');
    third.send('three');
    expect(new Ear(channel).text).to.equal('three');
  });

  it('replays exactly what a reconnecting subscriber missed', () => {
    const channel = new ConversationChannel();
    const ear = new Ear(channel);
    const answer = channel.begin();
    answer.send('a');
    ear.stop();
    answer.send('b');
    answer.done();
    say(channel, 'c');
    const back = new Ear(channel, ear.lastId);
    say(channel, 'd');
    expect(back.text).to.equal('b|[DONE]|c|[DONE]|d|[DONE]');
    expect(new Ear(channel, back.lastId).text).to.equal('');
    expect(ear.text).to.equal('a');
  });

  it('loses and duplicates nothing, however often a subscriber reconnects', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('send', 'end', 'fail', 'drop', 'back'), { maxLength: 60 }), (moves) => {
        const channel = new ConversationChannel();
        const witness = new Ear(channel);
        let ear = new Ear(channel);
        let listens = true;
        const seen: ChannelEvent[] = [];
        let answer = channel.begin();
        const drop = (): void => {
          ear.stop();
          if (listens) seen.push(...ear.events);
          listens = false;
        };
        moves.forEach((move, index) => {
          switch (move) {
            case 'send':
              answer.send(String(index));
              break;
            case 'end':
            case 'fail':
              if (move === 'end') answer.done();
              else answer.fail('x');
              answer = channel.begin();
              break;
            case 'drop':
              drop();
              break;
            case 'back':
              if (!listens) ear = new Ear(channel, ear.lastId);
              listens = true;
          }
        });
        drop();
        expect([...seen, ...new Ear(channel, ear.lastId).events]).to.deep.equal(witness.events);
      }),
      { numRuns: 300 },
    );
  });

  it('stays within its event limit, and reports a gap', () => {
    const channel = new ConversationChannel({ events: 10, characters: 1_000 });
    const ear = new Ear(channel);
    const answer = channel.begin();
    answer.send('0');
    ear.stop();
    for (let n = 1; n <= 100; n += 1) answer.send(String(n));
    const back = new Ear(channel, ear.lastId);
    expect(back.misses).to.equal(1);
    expect(back.events.length).to.be.within(5, 10);
    expect(back.events.at(-1)?.data).to.equal('100');
    const late = new Ear(channel);
    expect(late.misses).to.equal(1);
  });

  it('stays within its character limit', () => {
    const channel = new ConversationChannel({ events: 1_000, characters: 100 });
    const answer = channel.begin();
    for (let n = 0; n < 50; n += 1) answer.send('x'.repeat(30));
    expect(new Ear(channel).events.length).to.be.within(1, 3);
    answer.send('y'.repeat(5_000));
    expect(new Ear(channel).text).to.equal('y'.repeat(5_000));
  });

  it('treats ids from before a restart, and invalid ids, like a missing id', () => {
    const old = new ConversationChannel();
    say(old, 'a', 'b', 'c');
    const stale = new Ear(old).lastId;
    const channel = new ConversationChannel();
    say(channel, 'new');
    for (const id of [stale, '', '7', 'x-1', '-', `${new Ear(channel).lastId.split('-')[0] ?? ''}-99`, '__proto__']) {
      const ear = new Ear(channel, id);
      expect(ear.text, id).to.equal('new|[DONE]');
      expect(ear.misses).to.equal(0);
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
      const ear = new Ear(channel);
      channel.begin().send(text);
      const lines = ear.events.flatMap(({ data }) => data.split(/[\r\n]+/));
      expect(ear.events.map(({ data }) => data).join('')).to.equal(text);
      for (const line of lines) expect(line).not.to.match(/^\[DONE\]$|^ERROR: /);
    }
  });

  it('forgets undelivered responses beyond its limits', () => {
    const channel = new ConversationChannel({ events: 10, characters: 1_000 });
    for (let n = 0; n < 10_000; n += 1) say(channel, String(n));
    const ear = new Ear(channel);
    expect(ear.events.length).to.be.at.most(10);
    expect(ear.events.at(-2)?.data).to.equal('9999');
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
    const listened = channels.of('ann', 'listened');
    const stop = listened.subscribe({ event: () => undefined, gap: () => undefined, start: () => undefined });
    const answering = channels.of('ann', 'answering');
    const answer = answering.begin();
    for (let n = 0; n < 20; n += 1) channels.of('ann', `idle ${n}`);
    expect(channels.size).to.equal(3);
    expect(channels.of('ann', 'listened')).to.equal(listened);
    expect(channels.of('ann', 'answering')).to.equal(answering);
    stop();
    answer.done();
    for (let n = 0; n < 20; n += 1) channels.of('ann', `more ${n}`);
    expect(channels.size).to.equal(3);
    expect(channels.of('ann', 'listened')).not.to.equal(listened);
  });
});
