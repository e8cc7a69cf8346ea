/** Asks whether a session is to be replaced by that of a link. */
import { createRoot } from 'react-dom/client';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { useTheme } from '../shell/useTheme';

export function askToReplace(reason: string, onConfirm: () => Promise<void>): void {
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  const close = (): void => {
    root.unmount();
    container.remove();
  };
  root.render(<ReplaceSession reason={reason} onConfirm={onConfirm} onClose={close} />);
}

function ReplaceSession({
  reason,
  onConfirm,
  onClose,
}: {
  readonly reason: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}) {
  const theme = useTheme();
  return (
    <div className="bolide" data-theme={theme.shown}>
      <ConfirmDialog title="Sign in as another user?" action="Sign in" onConfirm={onConfirm} onClose={onClose}>
        <p>
          <bdi>{reason}</bdi>
        </p>
        <p>Continue only if you opened this link yourself: its owner sees what you do after you signed in with it.</p>
      </ConfirmDialog>
    </div>
  );
}
