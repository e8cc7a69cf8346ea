import { expect } from 'chai';
import type { DeltaView } from '../../../../../imports/business/ai/domain/types/RunViews';
import { deriveLiveText } from '../../../../../imports/ui/data/reducers/deriveLiveText';
import { textItem } from '../../../../../imports/testing/responses';

describe('deriveLiveText', () => {
  it('returns the streamed text that the transcript does not contain yet', () => {
    const delta = (seq: number, text: string, kind: DeltaView['kind'] = 'text'): DeltaView => ({
      _id: String(seq),
      executionId: 'r',
      seq,
      kind,
      text,
    });
    const deltas = [delta(3, ' world, '), delta(1, 'hello'), delta(5, 'and more'), delta(2, 'hm', 'reasoning')];
    expect(deriveLiveText(deltas, [], 'running')).to.deep.equal({ text: 'hello world, and more', reasoning: 'hm' });
    expect(deriveLiveText(deltas, [textItem('hello world, ')], 'running').text).to.equal('and more');
    expect(deriveLiveText(deltas, [], 'completed')).to.deep.equal({ text: '', reasoning: '' });
  });
});
