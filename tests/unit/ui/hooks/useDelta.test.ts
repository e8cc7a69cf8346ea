import { expect } from 'chai';
import { useDelta } from '../../../../imports/ui/hooks/useDelta';
import { FakeRunData } from '../../../support/FakeRunData';
import { renderHook } from '../../../support/react/renderHook';

describe('useDelta', () => {
  it('renders its component for what the model writes, and for nothing else of the run', async () => {
    const data = new FakeRunData();
    data.setText('r', 'Fog', 'running');
    // Hooks for runs read nothing else of the data.
    const hook = renderHook({ useHook: useDelta, props: 'r', data: data as never, isStrict: false });
    await hook.until(({ text }) => text === 'Fog');
    const renderings = hook.values.length;
    data.setText('r', 'Fog', 'waiting');
    await new Promise((resolve) => setImmediate(resolve));
    data.setText('r', 'Fog drifts.', 'running');
    await hook.until(({ text }) => text === 'Fog drifts.');
    expect(hook.values.length).to.equal(renderings + 1);
    hook.unmount();
  });
});
