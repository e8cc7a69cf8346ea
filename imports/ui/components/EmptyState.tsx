/** Stands in where there is nothing to show. */
import type { ReactNode } from 'react';
import { Icon } from './Icon';
import type { IconName } from './Icon';

export function EmptyState({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="placeholder">
      <span className="placeholder-icon">
        <Icon name={icon} />
      </span>
      <p className="placeholder-title">{title}</p>
      {children !== undefined && <div className="placeholder-text">{children}</div>}
    </div>
  );
}
