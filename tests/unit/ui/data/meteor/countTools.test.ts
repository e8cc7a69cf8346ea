import { expect } from 'chai';
import { countTools } from '../../../../../imports/ui/data/meteor/countTools';
import { toolCall } from '../../records';

describe('countTools', () => {
  it('counts calls by tool and state', () => {
    const tool = { name: 'tool', description: '', blocking: true, needsApproval: false, external: false };
    expect(
      countTools(
        [tool, { ...tool, name: 'idle' }],
        [toolCall({}), toolCall({}), toolCall({ state: 'failed' }), toolCall({ name: 'unregistered' })],
      ).map(({ counts }) => counts),
    ).to.deep.equal([{ executing: 2, failed: 1 }, {}]);
  });
});
