import { runAreas } from '../groups.ts';

runAreas(['auth', 'database', 'stock']);
