/** States on every page that responses are simulated, when they are. */
import { useData } from '../hooks/BolideProvider';
import { Icon } from '../components/Icon';

export function SimulationNotice() {
  const notice = useData().useSimulationNotice();
  if (notice === undefined) return null;
  return (
    <aside className="notice" aria-label="Simulation notice">
      <Icon name="flask" />
      <p>{notice}</p>
    </aside>
  );
}
