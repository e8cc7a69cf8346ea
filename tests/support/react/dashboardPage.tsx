/** The script of a page with the dashboard: of its own, or of an app that has a style sheet. */
import { createHttpData } from '../../../imports/ui/data/http/createHttpData';
import { mountEmbeddedDashboard } from '../../../imports/ui/embedded/mountEmbeddedDashboard';
import { mountDashboard } from '../../../imports/ui/mountDashboard';

declare const TOKEN: string;

const container = document.getElementById('dashboard');
const mount = document.body.dataset['app'] === undefined ? mountDashboard : mountEmbeddedDashboard;
const data = createHttpData({ token: TOKEN });
void data.checkSession();
if (container !== null) mount(container, data);
