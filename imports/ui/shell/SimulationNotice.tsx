/** States on every page that responses are simulated, when they are. */
import { Icon } from '../components/Icon';
import type { SessionData } from '../data/DashboardData';
import { useObservable } from '../hooks/useObservable';

export function SimulationNotice({ data }: { readonly data: Pick<SessionData, 'simulationNotice'> }) {
  const notice = useObservable(data.simulationNotice);
  if (notice === undefined) return null;
  return (
    <aside className="notice" aria-label="Simulation notice">
      <Icon name="flask" />
      <p>{notice}</p>
    </aside>
  );
}
