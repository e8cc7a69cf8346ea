/** A state as a coloured label with an icon. */
import { memo } from 'react';
import type { StateStyle } from '../format/stateStyles';
import { Icon } from './Icon';

export const StateBadge = memo(function StateBadge({ style }: { readonly style: StateStyle }) {
  return (
    <span className={`badge tone-${style.tone}`}>
      <Icon name={style.icon} />
      {style.label}
    </span>
  );
});
