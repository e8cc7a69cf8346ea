/** A state as a coloured word with its icon. */
import { memo } from 'react';
import type { StateStyle } from '../format/stateStyles';
import { Icon } from './Icon';

export const StateBadge = memo(function StateBadge({ face }: { readonly face: StateStyle }) {
  return (
    <span className={`badge tone-${face.tone}`}>
      <Icon name={face.icon} />
      {face.label}
    </span>
  );
});
