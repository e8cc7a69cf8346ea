/** States on every page that responses are simulated, when they are. */
import { Icon } from '../components/Icon';
import type { SessionData } from '../data/DashboardData';

export function SimulationNotice({ data }: { readonly data: Pick<SessionData, 'useSimulationNotice'> }) {
  const notice = data.useSimulationNotice();
  if (notice === undefined) return null;
  return (
    <aside className="notice" aria-label="Simulation notice">
      <Icon name="flask" />
      <p>{notice}</p>
    </aside>
  );
}
