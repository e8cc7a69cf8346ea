import { expect } from 'chai';
import { NO_USAGE } from '../../../../imports/business/ai/domain/entities/Response';
import type { RequestView } from '../../../../imports/business/ai/domain/types/RequestRecords';
import { cacheMisses } from '../../../../imports/ui/runs/cacheMisses';
import { requestView } from '../records';

const PROMPT = { tools: 'a', instructions: 'b' };

function turn(iteration: number, input: number, cached: number, fields: Partial<RequestView> = {}): RequestView {
  const usage = {
    ...NO_USAGE,
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 1 },
  };
  const common = { model: 'm', providerId: 'p', prompt: PROMPT, at: iteration * 1_000, duration: 100 };
  return requestView({ _id: `turn ${iteration}`, iteration, usage, ...common, ...fields });
}

/** What is said of the second turn, after one of 4,000 tokens. */
function reasonOf(fields: Partial<RequestView>, [input, cached]: readonly [number, number] = [4_100, 0]) {
  return cacheMisses([turn(1, 4_000, 0), turn(2, input, cached, fields)]).get('turn 2');
}

describe('cacheMisses', () => {
  it('names what has changed since the turn before', () => {
    expect(reasonOf({ model: 'n' })).to.equal('another model than m');
    expect(reasonOf({ providerId: 'q' })).to.equal('another provider than p');
    expect(reasonOf({ prompt: { ...PROMPT, tools: 'c' } })).to.equal('the tools changed');
    expect(reasonOf({ prompt: { ...PROMPT, instructions: 'c' } })).to.equal('the instructions changed');
    expect(reasonOf({}, [2_000, 0])).to.equal('the history was compacted');
    expect(reasonOf({ at: 1_000_000 })).to.match(/passed, in which a cache may expire$/);
    expect(reasonOf({ model: 'n', prompt: { ...PROMPT, tools: 'c' } })).to.equal(
      'another model than m, the tools changed',
    );
    expect(reasonOf({})).to.contain('the vendor did not find it');
  });

  it('takes a call between two turns for one that summarizes the history', () => {
    const { iteration: _, ...summary } = turn(2, 9_000, 0, { _id: 'summary' });
    const misses = cacheMisses([turn(1, 4_000, 0), summary, turn(3, 4_500, 0)]);
    expect([...misses]).to.deep.equal([['turn 3', 'the history was compacted']]);
  });

  it('says nothing of what was read, of short prompts, failed calls and vendors that tell nothing', () => {
    expect(reasonOf({}, [4_100, 3_900])).to.equal(undefined);
    expect(cacheMisses([turn(1, 500, 0), turn(2, 600, 0)]).size).to.equal(0);
    expect(reasonOf({ state: 'failed' })).to.equal(undefined);
    const silent = [turn(1, 4_000, 0), turn(2, 4_100, 0)].map((request) => ({
      ...request,
      usage: { ...request.usage, input_tokens_details: NO_USAGE.input_tokens_details },
    }));
    expect(cacheMisses(silent).size).to.equal(0);
  });

  it('compares with the last turn that was answered', () => {
    const misses = cacheMisses([turn(1, 4_000, 0), turn(2, 0, 0, { state: 'failed' }), turn(3, 4_100, 4_000)]);
    expect(misses.size).to.equal(0);
  });
});
