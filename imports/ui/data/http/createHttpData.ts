/** The data of hooks and dashboard over HTTP. */
import { HttpData } from './HttpData';
import type { HttpDataOptions } from './HttpData';
import { toDashboardData } from './toDashboardData';
import type { HttpDashboardData } from './toDashboardData';

/** To be called once, outside of components. In a page that Bolide's server serves, no option is needed. */
export function createHttpData(options: HttpDataOptions = {}): HttpDashboardData {
  return toDashboardData(new HttpData(options), options.simulationNotice);
}
