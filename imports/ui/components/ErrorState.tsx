/** Stands in for content that could not be loaded. */
import { Icon } from './Icon';

export function ErrorState({
  title,
  message,
  retry,
}: {
  readonly title: string;
  readonly message: string;
  readonly retry: () => void;
}) {
  return (
    <div className="placeholder placeholder-error" role="alert">
      <span className="placeholder-icon tone-red">
        <Icon name="cross" />
      </span>
      <p className="placeholder-title">{title}</p>
      <p className="placeholder-text">{message}</p>
      <button type="button" className="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}
