/** Signs in with the token of a link. Anybody can make such a link, so a session is replaced only after a question. */
import { createRoot } from 'react-dom/client';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { DashboardError } from '../data/DashboardData';
import type { HttpDashboardData } from '../data/http/toDashboardData';
import { useTheme } from '../shell/useTheme';

type SessionData = Pick<HttpDashboardData, 'commands' | 'checkSession'>;

export async function signInFromLink(token: string, data: SessionData): Promise<void> {
  const { signIn, signOut } = data.commands;
  try {
    await signIn({ method: 'token', token, replace: false });
  } catch (error) {
    if (error instanceof DashboardError && error.code === 'conflict')
      askToReplace(error.message, async () => {
        // What the user of the session has loaded is not shown to the next.
        await signOut({ staysHere: true });
        await signIn({ method: 'token', token });
      });
    await data.checkSession();
  }
}

function askToReplace(reason: string, onConfirm: () => Promise<void>): void {
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
