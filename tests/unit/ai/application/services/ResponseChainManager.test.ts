import { expect } from 'chai';
import fc from 'fast-check';
import { ResponseChainManager } from '../../../../../imports/business/ai/application/services/ResponseChainManager';
import { LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';

interface Entity {
  readonly identity: { readonly id: string };
  readonly [field: string]: unknown;
}

function person(id: string, fields: object = {}): Entity {
  return { identity: { id }, ...fields };
}

function chainOf(entity: Entity, name: string, namespace = '_openai'): unknown {
  return (entity[namespace] as Record<string, unknown> | undefined)?.[`${name}_chain`];
}

describe('ResponseChainManager', () => {
  it('stores the key intention:bob on bob as intention_chain under _openai', () => {
    const bob = person('bob');
    const chains = new ResponseChainManager([person('ann'), bob]);
    expect(chains.confirm('intention:bob', 'resp_1', 2)).to.deep.equal([]);
    expect(bob).to.deep.equal({ identity: { id: 'bob' }, _openai: { intention_chain: ['resp_1'] } });
  });

  it('stores under the given namespace', () => {
    const bob = person('bob');
    new ResponseChainManager([bob], '_llm').confirm('intention:bob', 'resp_1', 1);
    expect(bob).to.deep.equal({ identity: { id: 'bob' }, _llm: { intention_chain: ['resp_1'] } });
  });

  it('accepts entities and namespace as one object too', () => {
    const bob = person('bob');
    new ResponseChainManager({ entities: [bob], namespace: '_llm' }).confirm('intention:bob', 'resp_1', 1);
    new ResponseChainManager({ entities: [bob] }).confirm('intention:bob', 'resp_2', 1);
    expect(bob).to.deep.equal({
      identity: { id: 'bob' },
      _llm: { intention_chain: ['resp_1'] },
      _openai: { intention_chain: ['resp_2'] },
    });
  });

  it('splits keys at the first colon, since ids may contain colons', () => {
    const odd = person('npc:market:7');
    const chains = new ResponseChainManager([odd, person('market:7'), person('7')]);
    chains.confirm('talk:npc:market:7', 'resp_1', 1);
    expect(chainOf(odd, 'talk')).to.deep.equal(['resp_1']);
    expect(chains.getPrevious('talk:npc:market:7')).to.equal('resp_1');
    expect(chains.getPrevious('talk:market:7')).to.equal(null);
  });

  it('separates several chains on one entity', () => {
    const bob = person('bob');
    const chains = new ResponseChainManager([bob]);
    chains.confirm('intention:bob', 'resp_1', 1);
    chains.confirm('action:bob', 'resp_2', 1);
    expect([chains.getPrevious('intention:bob'), chains.getPrevious('action:bob')]).to.deep.equal(['resp_1', 'resp_2']);
  });

  it('returns the last id, or null for an empty chain, an unknown entity and a key without an entity', () => {
    const chains = new ResponseChainManager([
      person('bob', { _openai: { talk_chain: ['resp_1', 'resp_2'] } }),
      person('ann', { _openai: { talk_chain: [] } }),
    ]);
    expect(chains.getPrevious('talk:bob')).to.equal('resp_2');
    for (const key of ['talk:ann', 'think:bob', 'talk:eve', 'bob', '', ':', 'talk:'])
      expect(chains.getPrevious(key), key).to.equal(null);
  });

  it('leaves the chain unchanged at depth 0', () => {
    const bob = person('bob');
    const chains = new ResponseChainManager([bob]);
    expect(chains.confirm('talk:bob', 'resp_1', 0)).to.deep.equal([]);
    expect(bob).to.deep.equal({ identity: { id: 'bob' } });
    chains.confirm('talk:bob', 'resp_2', 1);
    expect(chains.confirm('talk:bob', 'resp_3', 0)).to.deep.equal([]);
    expect(chainOf(bob, 'talk')).to.deep.equal(['resp_2']);
  });

  for (const depth of [1, 2, 3]) {
    it(`slides a window of ${depth}: evicts the oldest response when the chain is full`, () => {
      const bob = person('bob');
      const chains = new ResponseChainManager([bob]);
      const evicted = [1, 2, 3, 4, 5].map((n) => chains.confirm('talk:bob', `resp_${n}`, depth));
      expect(chainOf(bob, 'talk')).to.deep.equal([1, 2, 3, 4, 5].slice(-depth).map((n) => `resp_${n}`));
      expect(evicted).to.deep.equal([1, 2, 3, 4, 5].map((n) => (n > depth ? [`resp_${n - depth}`] : [])));
    });
  }

  it('shrinks a chain to a lowered depth and returns every evicted id, oldest first', () => {
    const bob = person('bob', { _openai: { talk_chain: ['r1', 'r2', 'r3', 'r4', 'r5'] } });
    expect(new ResponseChainManager([bob]).confirm('talk:bob', 'r6', 2)).to.deep.equal(['r1', 'r2', 'r3', 'r4']);
    expect(chainOf(bob, 'talk')).to.deep.equal(['r5', 'r6']);
  });

  it('lets a chain grow when the depth is raised', () => {
    const bob = person('bob', { _openai: { talk_chain: ['r1'] } });
    expect(new ResponseChainManager([bob]).confirm('talk:bob', 'r2', 5)).to.deep.equal([]);
    expect(chainOf(bob, 'talk')).to.deep.equal(['r1', 'r2']);
  });

  it('never exceeds the depth, and neither loses nor duplicates an id, for any sequence of depths', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 40 }), (depths) => {
        const bob = person('bob');
        const chains = new ResponseChainManager([bob]);
        const evicted = depths.flatMap((depth, index) => {
          const gone = chains.confirm('talk:bob', `r${index}`, depth);
          const held = (chainOf(bob, 'talk') ?? []) as string[];
          if (depth > 0) expect(held.length).to.be.at.most(depth);
          if (depth > 0) expect(held.at(-1)).to.equal(`r${index}`);
          return gone;
        });
        const all = [...evicted, ...((chainOf(bob, 'talk') ?? []) as string[])];
        expect(all).to.deep.equal(depths.flatMap((depth, index) => (depth === 0 ? [] : [`r${index}`])));
      }),
      { numRuns: 300 },
    );
  });

  it('changes the entity, its record and its chain in place', () => {
    const chain = ['r1'];
    const record = { talk_chain: chain };
    const bob = person('bob', { _openai: record });
    const chains = new ResponseChainManager([bob]);
    chains.confirm('talk:bob', 'r2', 1);
    chains.addUsage('talk:bob', { input_tokens: 1, output_tokens: 2 });
    expect(bob._openai).to.equal(record);
    expect(record.talk_chain).to.equal(chain);
    expect(chain).to.deep.equal(['r2']);
  });

  it('ignores entities without identity.id and other values in the list', () => {
    const bob = person('bob');
    const odd = [
      null,
      undefined,
      'bob',
      7,
      [],
      {},
      { identity: null },
      { identity: {} },
      { identity: { id: null } },
      { id: 'bob' },
    ];
    const before = JSON.stringify(odd);
    const chains = new ResponseChainManager([...odd, bob]);
    chains.confirm('talk:bob', 'r1', 1);
    for (const id of ['null', 'undefined', '7', '']) expect(chains.has(`talk:${id}`)).to.equal(false);
    expect(chainOf(bob, 'talk')).to.deep.equal(['r1']);
    expect(JSON.stringify(odd)).to.equal(before);
  });

  it('finds entities whose ids are numbers', () => {
    const seventh = { identity: { id: 7 } };
    new ResponseChainManager([seventh]).confirm('talk:7', 'r1', 1);
    expect(seventh).to.deep.equal({ identity: { id: 7 }, _openai: { talk_chain: ['r1'] } });
  });

  it('confirms nothing for an unknown entity', () => {
    const chains = new ResponseChainManager([person('bob')]);
    expect(chains.confirm('talk:eve', 'r1', 3)).to.deep.equal([]);
    chains.addUsage('talk:eve', { input_tokens: 1, output_tokens: 1 });
  });

  it('follows entities that are added, removed and moved', () => {
    const list: Entity[] = [person('ann'), person('bob')];
    const chains = new ResponseChainManager(list);
    chains.confirm('talk:bob', 'r1', 1);
    list.unshift(person('eve'));
    expect(chains.getPrevious('talk:bob')).to.equal('r1');
    chains.confirm('talk:eve', 'r2', 1);
    expect(chainOf(list[0]!, 'talk')).to.deep.equal(['r2']);
    list.splice(1, 1);
    expect(chains.getPrevious('talk:ann')).to.equal(null);
    expect(chains.has('talk:ann')).to.equal(false);
  });

  it('adds usage up', () => {
    const bob = person('bob', { _openai: { usage: { total_requests: 3 } } });
    const chains = new ResponseChainManager([bob]);
    chains.addUsage('talk:bob', { input_tokens: 10, output_tokens: 5 });
    chains.addUsage('think:bob', { input_tokens: 1, output_tokens: 2 });
    expect(bob._openai).to.deep.equal({ usage: { total_input_tokens: 11, total_output_tokens: 7, total_requests: 5 } });
  });

  it('treats null as absent, as databases write it', () => {
    const bob = person('bob', { _openai: null });
    const ann = person('ann', { _openai: { talk_chain: null } });
    const chains = new ResponseChainManager([bob, ann]);
    for (const id of ['bob', 'ann']) {
      expect(chains.getPrevious(`talk:${id}`)).to.equal(null);
      chains.confirm(`talk:${id}`, 'r1', 1);
    }
    expect([chainOf(bob, 'talk'), chainOf(ann, 'talk')]).to.deep.equal([['r1'], ['r1']]);
  });

  for (const [title, entity] of [
    ['a record that is none', person('bob', { _openai: 'mine' })],
    ['a chain that is no list', person('bob', { _openai: { talk_chain: 'r1' } })],
    ['a chain of other things than ids', person('bob', { _openai: { talk_chain: [1] } })],
  ] as const) {
    it(`refuses to overwrite ${title}`, () => {
      const before = JSON.stringify(entity);
      const chains = new ResponseChainManager([entity]);
      expect(() => chains.getPrevious('talk:bob')).to.throw(LLMInvalidRequestError);
      expect(() => chains.confirm('talk:bob', 'r1', 1)).to.throw(LLMInvalidRequestError);
      expect(JSON.stringify(entity)).to.equal(before);
    });
  }
});
