/** What stands where something is missing: nothing yet, not yet, not possible. */
import type { ReactNode } from 'react';
import type { Loaded } from '../data/DashboardData';
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
    <div className="face">
      <span className="face-mark">
        <Icon name={icon} />
      </span>
      <p className="face-title">{title}</p>
      {children !== undefined && <div className="face-text">{children}</div>}
    </div>
  );
}

export function Skeleton({ what }: { readonly what: string }) {
  return (
    <div className="skeletons" role="status" aria-label={`Loading ${what}`}>
      <span className="skeleton" />
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  );
}

function ErrorFace({
  title,
  message,
  retry,
}: {
  readonly title: string;
  readonly message: string;
  readonly retry?: () => void;
}) {
  return (
    <div className="face face-error" role="alert">
      <span className="face-mark tone-red">
        <Icon name="cross" />
      </span>
      <p className="face-title">{title}</p>
      <p className="face-text">{message}</p>
      {retry !== undefined && (
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** One of the three, or the value. */
export function WhenLoaded<T>({
  loaded,
  what,
  children,
}: {
  readonly loaded: Loaded<T>;
  readonly what: string;
  readonly children: (value: T) => ReactNode;
}) {
  switch (loaded.state) {
    case 'loading':
      return <Skeleton what={what} />;
    case 'failed':
      return (
        <ErrorFace
          title={`The ${what} could not be loaded`}
          message={loaded.error.message}
          retry={() => loaded.retry()}
        />
      );
    case 'ready':
      return <>{children(loaded.value)}</>;
  }
}
