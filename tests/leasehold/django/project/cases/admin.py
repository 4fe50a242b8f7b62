"""The page in the admin."""

# pyright: basic, reportGeneralTypeIssues=false, reportOptionalContextManager=false, reportOptionalSubscript=false
# pyright: reportOptionalIterable=false, reportAttributeAccessIssue=false, reportAssignmentType=false

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client, SimpleTestCase

from tests.leasehold.django.project.shop import tasks


class Admin(SimpleTestCase):
    databases = "__all__"

    def signed_in(self, name, **rights):
        client = Client()
        user, _ = User.objects.get_or_create(username=name, defaults={"is_staff": True, **rights})
        client.force_login(user)
        return client

    def test_the_index_leads_to_the_page_and_the_page_to_the_dashboard(self):
        tasks.noop.using(queue_name="slow").enqueue()
        client = self.signed_in("root", is_superuser=True)
        self.assertContains(client.get("/admin/"), 'href="/admin/leasehold/jobs/"')
        page = client.get("/admin/leasehold/jobs/")
        self.assertContains(page, 'href="https://jobs.example/"')
        self.assertContains(page, "<tr><td>slow</td><td>pending</td><td>1</td></tr>", html=True)

    def test_others_do_not_see_it(self):
        client = self.signed_in("clerk")
        self.assertNotContains(client.get("/admin/"), "leasehold")
        self.assertEqual(client.get("/admin/leasehold/jobs/").status_code, 403)
        self.assertEqual(Client().get("/admin/leasehold/jobs/").status_code, 302)
